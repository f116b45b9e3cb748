"""What a history and a log are held to. One file a promise: a pure function of the two.

What a client does not promise (a producer that is not idempotent) is found all the same: whether that
matters is for the reader to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from barnabas.experiments.explore.checks.consumed_after_acceptance import (
    consumed_after_acceptance,
)
from barnabas.experiments.explore.checks.consumed_again import consumed_again
from barnabas.experiments.explore.checks.consumed_out_of_order import consumed_out_of_order
from barnabas.experiments.explore.checks.duplicated import duplicated
from barnabas.experiments.explore.checks.failed_yet_written import failed_yet_written
from barnabas.experiments.explore.checks.lost import lost
from barnabas.experiments.explore.checks.misplaced import misplaced
from barnabas.experiments.explore.checks.phantom import phantom
from barnabas.experiments.explore.checks.read_uncommitted import read_uncommitted
from barnabas.experiments.explore.checks.reordered import reordered
from barnabas.experiments.explore.checks.skipped import skipped
from barnabas.experiments.explore.finding import Finding
from barnabas.experiments.explore.history import History
from barnabas.experiments.explore.log import Log

Check = Callable[[History, Log], Iterator[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    lost,
    duplicated,
    reordered,
    failed_yet_written,
    read_uncommitted,
    phantom,
    misplaced,
    consumed_out_of_order,
    consumed_again,
    consumed_after_acceptance,
    skipped,
)


def check(history: History, log: Log) -> tuple[Finding, ...]:
    """All that is found."""
    return tuple(found for one in CHECKS for found in one(history, log))
