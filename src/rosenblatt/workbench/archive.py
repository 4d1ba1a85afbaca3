"""The ZIP archive that a model file is, looked over before anything in it is inflated.

A small file can claim to be a large one. What it would take in memory is added up from the sizes
it declares, past which `zipfile` reads nothing; those of arrays that several nodes of the tree
bring in count each time.
"""

import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .about import Damaged
from .trust import nodes_of

ABOUT = "rosenblatt.json"
TREE = "schema.json"
MEMBERS = re.compile(r"\d+\.np[yz]|" + "|".join(map(re.escape, (ABOUT, TREE))))
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_BYTES = 2**30  # that any file may take in memory; one that is large itself may take more
MOST_TIMES = 10  # its own size
OBJECTS_A_BYTE = 20  # bytes that a byte of JSON takes as objects


def check_members(archive: zipfile.ZipFile) -> None:
    """Raise unless each member is one that a model file of ours has, once."""
    entries = archive.infolist()
    for name, times in Counter(entry.filename for entry in entries).items():
        if not MEMBERS.fullmatch(name):
            raise Damaged(f"it holds {name[:60]!r}, which no model file has")
        if times > 1:
            raise Damaged(f"it holds {name!r} {times} times")
    for entry in entries:
        if entry.flag_bits & 1 or entry.compress_type not in PACKED:
            raise Damaged(f"{entry.filename!r} is encrypted or packed in a way of others")


def is_large(archive: zipfile.ZipFile, size: int) -> int:
    """The bytes that a file of some size would take in memory, if that is too many; else 0."""
    most = max(MOST_BYTES, MOST_TIMES * size)
    sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    tree = OBJECTS_A_BYTE * (sizes.pop(TREE, 0) + sizes.pop(ABOUT, 0))
    needed = tree + sum(sizes.values())
    if needed > most:
        return needed
    needed = tree
    for member in _brought_in(json.loads(archive.read(TREE))):
        needed += 2 * sizes.get(member, 0)  # as bytes, and as an array
        if member.endswith(".npz") and member in sizes:
            with zipfile.ZipFile(io.BytesIO(archive.read(member))) as inner:
                needed += sum(entry.file_size for entry in inner.infolist())
        if needed > most:
            return needed
    return 0


def _brought_in(tree: Any) -> Iterator[str]:
    """The arrays that a tree names, as often as they are read: once for each object."""
    seen = set()
    for node in nodes_of(tree):
        member, known = node.get("file"), node.get("__id__")
        if isinstance(member, str) and (not isinstance(known, int) or known not in seen):
            seen.add(known)
            yield member
