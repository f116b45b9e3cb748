"""Where things are: the package, which processes that this one starts import as well, and its cache."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
"""The folder of the package."""

ROOT: Final = PACKAGE.parent
"""The folder to put on the path."""


def cache() -> Path:
    """Where barnabas keeps what it can get again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "barnabas"
