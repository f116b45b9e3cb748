"""The samples whose tables are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests import places

SAMPLES: Final[list[Path]] = [
    path for path in sorted(places.SAMPLES.iterdir()) if path.suffix != ".md"
]
