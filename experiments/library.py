"""The scenarios that barnabas includes, by name: `experiments/scenarios/NAME.yaml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from barnabas.nearest import nearest

FOLDER: Final = Path(__file__).parent / "scenarios"
"""The folder of the scenarios."""


def names() -> list[str]:
    """Return the names of all scenarios, sorted.

    >>> "commit-after-join" in names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(given: Path, folder: Path = Path()) -> Path:
    """Return a scenario's file, by its path relative to a folder, or by its name in the library.

    A file with that path goes first.

    >>> find(Path("commit-after-join")).name
    'commit-after-join.yaml'
    >>> find(Path("lossy"))
    Traceback (most recent call last):
    LookupError: no scenario and no file 'lossy'; did you mean 'lossy-network'?

    Raises:
        LookupError: There is neither.
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
