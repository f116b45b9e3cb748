"""The proxy's clock."""

from __future__ import annotations

import time
from time import monotonic_ns
from typing import Final

EPOCH: Final = time.time_ns() - monotonic_ns()


def clock() -> int:
    """Return the time in ns since the epoch; it never goes back, even if the system clock is set."""
    return EPOCH + monotonic_ns()
