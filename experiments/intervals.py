"""How sure a share is that was counted in some runs."""

from __future__ import annotations

import math


def wilson(hits: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """The interval in which a share lies (Wilson's score interval; z of 1.96: 95 %).

    Without runs it may be anything. Source: E. B. Wilson, JASA 22 (1927).

    >>> [round(end, 3) for end in wilson(50, 50)], [round(end, 3) for end in wilson(5, 10)]
    ([0.929, 1.0], [0.237, 0.763])
    """
    if not runs:
        return 0.0, 1.0
    share, square = hits / runs, z * z / runs
    middle = share + square / 2
    spread = z * math.sqrt(share * (1 - share) / runs + square / (4 * runs))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def share(hits: int, runs: int) -> str:
    """A share with its interval, as results have it.

    >>> share(50, 50)
    '50 of 50 (93-100 %)'
    """
    low, high = wilson(hits, runs)
    return f"{hits} of {runs} ({100 * low:.0f}-{100 * high:.0f} %)" if runs else "0 of 0"
