"""The scenarios that come with barnabas, by name: `experiments/scenarios/NAME.yaml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from barnabas.nearest import nearest

FOLDER: Final = Path(__file__).parent / "scenarios"
"""Where they are."""


def names() -> list[str]:
    """The names of all of them, sorted.

    >>> "commit-after-join" in names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(given: Path, folder: Path = Path()) -> Path:
    """A scenario's file by its path, which begins at the folder, or else by its name in the library.

    A file of that name goes first. Raises LookupError, in words, if there is neither.

    >>> find(Path("commit-after-join")).name
    'commit-after-join.yaml'
    >>> find(Path("lossy"))
    Traceback (most recent call last):
    LookupError: no scenario and no file 'lossy'; did you mean 'lossy-network'?
    """
    path = folder / given
    if os.path.exists(path) and not path.is_dir():  # noqa: PTH110 - False, too, for what can't be a file's name
        return path
    if str(given) in names():
        return FOLDER / f"{given}.yaml"
    beside = path.parent.glob("*.y*ml") if path.parent.is_dir() else ()
    files = (other for other in beside if given.name and other.is_file())
    known = {other.stem: str(given.with_name(other.name)) for other in files}
    known.update((name, name) for name in names())
    near = nearest(given.stem, known)
    hint = "see `barnabas scenario list`" if near is None else f"did you mean {known[near]!r}?"
    where = "" if folder == Path() else f" in {folder}"
    raise LookupError(f"no scenario and no file {str(given)!r}{where}; {hint}")
