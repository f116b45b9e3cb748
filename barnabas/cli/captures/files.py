"""Captures as a command line names them: files, folders of files, and patterns that no shell has expanded."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from barnabas.captures.files.capture_folder import Listing, listing
from barnabas.trouble import Trouble


def capture_path(text: str) -> Path:
    """Parse the path of a capture.

    Raises:
        Trouble: The text is empty, which Path takes for the current folder.
    """
    if not text:
        raise Trouble("can't read the capture '': No such file or directory")
    return Path(text)


def capture_files(roots: Sequence[Path]) -> Listing:
    """Return the captures of paths, each once; those of a folder in the order of their times.

    A named file need not exist, nor have the name of a capture: opening it reports errors.

    Raises:
        Trouble: A folder has no captures, or a pattern matches no file.
    """
    others: dict[Path, str] = {}
    paths = dict.fromkeys(path for root in roots for path in _files(root, others))
    return Listing([*paths], others)


def _files(given: Path, others: dict[Path, str]) -> Iterator[Path]:
    """Yield the files of a path. others: Gets the files of a folder that are not captures."""
    if os.path.isdir(given):  # noqa: PTH112 - also where a name is too long
        try:
            listing_ = listing(given)
        except FileNotFoundError:
            raise Trouble(f"no captures in the folder {given}") from None
        except OSError as problem:
            raise Trouble(f"can't read the folder {given}: {problem.strerror}") from None
        others |= listing_.others
        yield from listing_.captures
    elif glob.has_magic(str(given)) and not given.exists():
        matching = sorted(Path(path) for path in glob.glob(str(given), recursive=True))  # noqa: PTH207 - patterns may be absolute
        if not matching:
            raise Trouble(f"no file matches {given}")
        yield from (path for path in matching if path.is_file())
    else:
        yield given
