"""What a capture shows to be wrong. One file a check: a function over exchanges, with its thresholds.

A check sees the exchanges in the order in which they end, once, and keeps little of them. What began
before the capture, or stands where it has a gap, it does not know, and finds nothing in. What one of
these sees of bodies is a fact of `facts.py`: so it can be run over tables without any body.

A check of one's own needs no fork: a tuple like this one goes to `barnabas check --checks`.
"""

from __future__ import annotations

from typing import Final

from barnabas.captures.checks import (
    backoff,
    commits,
    correlation_ids,
    corrupt_records,
    fetch_loops,
    group_states,
    heartbeats,
    joins,
    leaders,
    member_epochs,
    order,
    rebalances,
    responses,
    sequences,
    versions,
)
from barnabas.captures.checks.finding import Check

__all__ = ["CHECKS", "Check"]

CHECKS: Final[tuple[Check, ...]] = (
    responses.CHECK,
    correlation_ids.CHECK,
    versions.CHECK,
    backoff.CHECK,
    fetch_loops.CHECK,
    leaders.CHECK,
    sequences.CHECK,
    order.CHECK,
    corrupt_records.CHECK,
    heartbeats.CHECK,
    joins.CHECK,
    rebalances.CHECK,
    commits.CHECK,
    group_states.CHECK,
    member_epochs.CHECK,
)
