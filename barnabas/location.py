"""The folders of the package and of its cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
"""The folder of the package."""

ROOT: Final = PACKAGE.parent
"""The folder for Python's path."""


def cache() -> Path:
    """Return the folder for downloads and other data that can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "barnabas"
