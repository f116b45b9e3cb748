"""Captures as a command line names them: files, folders of files, patterns that no shell has read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from barnabas.trouble import Trouble

KINDS: Final = (".pcapng", ".pcap", ".cap", ".dmp")
PACKED: Final = (".gz", ".zst")


def capture_path(text: str) -> Path:
    """A path on the command line. Raises Trouble for an empty one, which Path takes for this folder."""
    if not text:
        raise Trouble("can't read the capture '': No such file or directory")
    return Path(text)


def capture_files(given: Sequence[Path]) -> list[Path]:
    """The files, each once: of a folder those that are called like captures, by their names.

    Raises Trouble for a folder or a pattern without one. A file that is named itself may be called
    anything, and need not be there: who opens it will say so.
    """
    return [*dict.fromkeys(path for one in given for path in _files(one))]


def _files(given: Path) -> Iterator[Path]:
    if os.path.isdir(given):  # noqa: PTH112 - also where a name is too long
        try:
            found = sorted(path for path in given.iterdir() if path.is_file() and named_so(path))
        except OSError as problem:
            raise Trouble(f"can't read the folder {given}: {problem.strerror}") from None
        if not found:
            raise Trouble(f"no captures in the folder {given}: none of its files is {_kinds()}")
        yield from found
    elif glob.has_magic(str(given)) and not given.exists():
        matching = sorted(Path(path) for path in glob.glob(str(given), recursive=True))  # noqa: PTH207 - patterns may be absolute
        if not matching:
            raise Trouble(f"no file matches {given}")
        yield from (path for path in matching if path.is_file())
    else:
        yield given


def named_so(path: Path) -> bool:
    """Whether a file is called like a capture.

    >>> named_so(Path("a.pcapng.zst")), named_so(Path("a.PCAP")), named_so(Path("a.keys"))
    (True, True, False)
    """
    name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return name.suffix.lower() in KINDS


def _kinds() -> str:
    return f"called {', '.join(KINDS)} (or {', '.join(PACKED)} behind that)"
