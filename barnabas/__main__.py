"""`python -m barnabas`: the command line, with our own packages whatever else is on the path.

Where PYTHONPATH has a user's project, its folder `proxy` or `specs` would stand before ours: these names
are looked for beside this package and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

OURS: Final = ("barnabas", "captures", "experiments", "fuzz", "peers", "pipeline", "proxy", "specs")
"""The top-level packages of the wheel."""

ROOT: Final = str(Path(__file__).resolve().parent.parent)


class OurOwn(MetaPathFinder):
    """Finds them here."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a top-level package of ours is; None for all others."""
        return PathFinder.find_spec(fullname, [ROOT], target) if fullname in OURS else None


if __name__ == "__main__":
    sys.meta_path.insert(0, OurOwn())
    from barnabas.entry import main

    main()
