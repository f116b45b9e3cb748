"""Where the package `barnabas` is: processes that this one starts import it from there as well."""

from __future__ import annotations

from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent
"""The folder of the package."""

ROOT: Final = PACKAGE.parent
"""The folder to put on the path."""
