"""The proxy's clock."""

from __future__ import annotations

import time
from time import monotonic_ns
from typing import Final

EPOCH: Final = time.time_ns() - monotonic_ns()


def clock() -> int:
    """Now, in ns since the epoch; never goes back (a clock set during a run does not show)."""
    return EPOCH + monotonic_ns()
