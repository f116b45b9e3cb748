"""The scenarios that come with barnabas, by name: `experiments/scenarios/NAME.yaml`."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "scenarios"
"""Where they are."""


def names() -> list[str]:
    """The names of all of them, sorted.

    >>> "commit-after-join" in names()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def find(given: Path) -> Path:
    """A scenario's file by its path, or else by its name in the library.

    A file of that name goes first. Raises LookupError, in words, if there is neither.

    >>> find(Path("commit-after-join")).name
    'commit-after-join.yaml'
    >>> find(Path("lossy"))
    Traceback (most recent call last):
    LookupError: no scenario and no file 'lossy'; did you mean 'lossy-network'?
    """
    if os.path.exists(given):  # noqa: PTH110 - False, too, for what can't be a file's name
        return given
    known = names()
    if given.parent == Path() and str(given) in known:
        return FOLDER / f"{given}.yaml"
    near = get_close_matches(given.stem, known, 1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise LookupError(f"no scenario and no file {str(given)!r}{hint}")
