"""Where the tests' data are, wherever a test is."""

from __future__ import annotations

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
"""The repository."""

GOLDEN: Final = ROOT / "tests" / "golden"
"""Frames and definitions out of Apache Kafka's own classes."""

SAMPLES: Final = ROOT / "captures" / "samples"
"""The sample captures."""
