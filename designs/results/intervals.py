"""Intervals of shares and medians of some runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable


def wilson(hits: int, runs: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval in which a share lies (Wilson's score interval; z of 1.96: 95 %).

    Without runs it is 0 to 1. Source: E. B. Wilson, JASA 22 (1927).
    """
    if not runs:
        return 0.0, 1.0
    share, square = hits / runs, z * z / runs
    middle = share + square / 2
    spread = z * math.sqrt(share * (1 - share) / runs + square / (4 * runs))
    low, high = (middle - spread) / (1 + square), (middle + spread) / (1 + square)
    return max(low, 0.0), min(high, 1.0)


def share(hits: int, runs: int) -> str:
    """Write a share with its interval.

    >>> share(50, 50)
    '50 of 50 (93-100 %)'
    """
    low, high = wilson(hits, runs)
    return f"{hits} of {runs} ({100 * low:.0f}-{100 * high:.0f} %)" if runs else "0 of 0"


def median_bounds(values: Iterable[float]) -> tuple[float, float]:
    """Return the bounds of a median, in at least 95 % of cases with six or more values.

    Source: the sign test; so many of the values are left off at each end that their number, which is
    binomial, is passed in at most 2.5 % of cases. Of fewer than six it is all of them, which is less sure.
    Raises ValueError without values.

    >>> median_bounds(range(1, 11))
    (2, 9)
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values")
    count, left_off, below = len(ordered), 0, 1.0
    while below + (more := math.comb(count, left_off + 1)) <= 0.025 * 2**count:
        below, left_off = below + more, left_off + 1
    return ordered[left_off], ordered[-1 - left_off]


def middle(values: Iterable[float]) -> str:
    """Write a median with its bounds.

    >>> middle([10, 20, 30])
    '20 (10-30)'
    """
    figures = list(values)
    low, high = median_bounds(figures)
    return f"{statistics.median(figures):.0f} ({low:.0f}-{high:.0f})"
