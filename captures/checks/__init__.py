"""Check captures for problems: one file for each check, a function over exchanges with its thresholds.

A check sees each exchange once, in the order in which the exchanges end, and stores little of them. It
reports nothing that depends on exchanges before the capture or in one of its gaps. These checks read bodies
only through the facts of `facts.py`, so they also run over tables without bodies.

Your own checks need no change here: pass a tuple like CHECKS to `barnabas check --checks`.
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
