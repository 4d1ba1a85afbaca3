"""Files that are written whole or not at all: a draft takes the place of the file at the end."""

import hashlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOWHERE = "0" * 8  # that anything is known of


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
    _clear_up(target)
    draft = target.with_name(f".{target.name}.{_home()}.{os.getpid()}.{uuid.uuid4().hex[:12]}")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())  # so that no loss of power leaves the name without the file
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(draft)):  # another file's
            raise
        raise OSError(error.errno, error.strerror, str(called or target)) from error
    finally:
        draft.unlink(missing_ok=True)


def _clear_up(target: Path) -> None:
    """Remove the drafts of a file whose processes are no more."""
    home = _home()
    if home == NOWHERE:
        return
    ours = re.compile(rf"{re.escape(f'.{target.name}.{home}.')}(\d+)\.[0-9a-f]{{12}}")
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
