"""Checks of a history and a log: each promise is a pure function of the two.

`written.py` has the promises to producers, `delivered.py` those to consumers; `promise.py` makes the
findings. Findings include promises that a client does not make (a producer without idempotence): the reader
decides whether they matter.
"""

from __future__ import annotations

from typing import Final

from barnabas.experiments.explore.checks.delivered import (
    consumed_after_acceptance,
    consumed_again,
    consumed_out_of_order,
    consumed_twice,
    phantom,
    read_uncommitted,
    skipped,
)
from barnabas.experiments.explore.checks.promise import Check
from barnabas.experiments.explore.checks.written import (
    duplicated,
    failed_yet_written,
    lost,
    misplaced,
    reordered,
    reported_twice,
)
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log

CHECKS: Final[tuple[Check, ...]] = (
    lost,
    duplicated,
    reordered,
    failed_yet_written,
    read_uncommitted,
    phantom,
    misplaced,
    reported_twice,
    consumed_out_of_order,
    consumed_twice,
    consumed_again,
    consumed_after_acceptance,
    skipped,
)


def check(history: History, log: Log) -> tuple[Finding, ...]:
    """Return all findings."""
    return tuple(finding for performed_check in CHECKS for finding in performed_check(history, log))
