"""Captures as a command line names them: files, folders of files, patterns that no shell has read."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from barnabas.captures.files.capture_folder import Listing, listing
from barnabas.trouble import Trouble


def capture_path(text: str) -> Path:
    """A path on the command line. Raises Trouble for an empty one, which Path takes for this folder."""
    if not text:
        raise Trouble("can't read the capture '': No such file or directory")
    return Path(text)


def capture_files(given: Sequence[Path]) -> Listing:
    """The files, each once: of a folder those that are captures, in the order of their times.

    Raises Trouble for a folder or a pattern without one. A file that is named itself may be called
    anything, and need not be there: who opens it will say so.
    """
    others: dict[Path, str] = {}
    paths = dict.fromkeys(path for one in given for path in _files(one, others))
    return Listing([*paths], others)


def _files(given: Path, others: dict[Path, str]) -> Iterator[Path]:
    """Files that a path stands for. others: gets those of a folder that are not captures."""
    if os.path.isdir(given):  # noqa: PTH112 - also where a name is too long
        try:
            found = listing(given)
        except FileNotFoundError:
            raise Trouble(f"no captures in the folder {given}") from None
        except OSError as problem:
            raise Trouble(f"can't read the folder {given}: {problem.strerror}") from None
        others |= found.others
        yield from found.captures
    elif glob.has_magic(str(given)) and not given.exists():
        matching = sorted(Path(path) for path in glob.glob(str(given), recursive=True))  # noqa: PTH207 - patterns may be absolute
        if not matching:
            raise Trouble(f"no file matches {given}")
        yield from (path for path in matching if path.is_file())
    else:
        yield given
