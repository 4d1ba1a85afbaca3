"""Files that are written whole or not at all: a draft takes the place of the file at the end."""

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOWHERE = "0" * 8  # that anything is known of
LONGEST_NAME = 200  # bytes, of the 255 that file systems allow: a draft adds to them


@contextmanager
def drafted(target: Path, called: Any = None) -> Iterator[Path]:
    """The path of a draft, which takes the place of a file once all went well, with its mode.

    Errors name the file as it is `called`, if not by its path. Drafts of the same file that
    processes left behind when they were killed are removed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with drafted(Path(folder, "words.txt")) as draft:
    ...         _ = draft.write_text("all of them")
    ...     os.listdir(folder)
    ['words.txt']
    """
    if str(target) == os.devnull:  # nothing is kept: there is nothing to be half of
        yield target
        return
    with drafted_together([target], [called]) as [draft]:
        yield draft


@contextmanager
def drafted_together(targets: Sequence[Path], called: Sequence[Any]) -> Iterator[list[Path]]:
    """Drafts of files that belong together: none takes its place before all are on the disk.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     places = [Path(folder, name) for name in ("one.txt", "two.txt")]
    ...     with drafted_together(places, ["one", "two"]) as drafts:
    ...         _ = [draft.write_text("all of it") for draft in drafts]
    ...     sorted(os.listdir(folder))
    ['one.txt', 'two.txt']
    """
    for target in targets:
        _clear_up(target)
    drafts = [_draft_of(target) for target in targets]
    try:
        yield drafts
        for draft, target in zip(drafts, targets, strict=True):
            with draft.open("rb") as file:
                os.fsync(file.fileno())  # so that no loss of power leaves the name without the file
            if target.exists():
                shutil.copymode(target, draft)
        for draft, target in zip(drafts, targets, strict=True):
            os.replace(draft, target)
    except OSError as error:
        # One that names no file is about that which was being written, the last there is.
        last = max((k for k, draft in enumerate(drafts) if draft.exists()), default=0)
        whose = {None: last} | {str(draft): k for k, draft in enumerate(drafts)}
        if error.errno is None or error.filename not in whose:  # another file's
            raise
        place = whose[error.filename]
        raise OSError(error.errno, error.strerror, str(called[place] or targets[place])) from error
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def _draft_of(target: Path) -> Path:
    return target.with_name(f".{_short(target)}.{_home()}.{os.getpid()}.{uuid.uuid4().hex[:12]}")


def _short(target: Path) -> str:
    """The name of a file, or letters that stand for it where a draft's would be too long."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= LONGEST_NAME else hashlib.sha256(name).hexdigest()


def _clear_up(target: Path) -> None:
    """Remove the drafts of a file whose processes are no more."""
    home = _home()
    if home == NOWHERE:
        return
    ours = re.compile(rf"{re.escape(f'.{_short(target)}.{home}.')}(\d+)\.[0-9a-f]{{12}}")
    try:
        for name in os.listdir(target.parent):
            draft = ours.fullmatch(name)
            if draft and not _lives(int(draft[1])):
                target.with_name(name).unlink(missing_ok=True)
    except OSError:  # a folder that cannot be read, or changed: whoever writes will say so
        return


def _home() -> str:
    """Where the number of a process means this process: a boot of a machine, and a container."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
        numbers = os.readlink("/proc/self/ns/pid")
    except (OSError, ValueError):  # no Linux: nobody can be told dead for certain
        return NOWHERE
    return hashlib.sha256(f"{boot}{numbers}".encode()).hexdigest()[:8]


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)  # asks, and ends nothing
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True
