"""All checks, and choosing among them by area, name or glob."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from barnabas.conform.areas import (
    admin,
    apiversions,
    configs,
    connection,
    fetch,
    frame,
    isolation,
    metadata,
    produce,
    share,
    topics,
    txn,
)
from barnabas.conform.check import Check

CHECKS: Final[tuple[Check, ...]] = (
    *frame.CHECKS,
    *connection.CHECKS,
    *apiversions.CHECKS,
    *metadata.CHECKS,
    *produce.CHECKS,
    *fetch.CHECKS,
    *topics.CHECKS,
    *configs.CHECKS,
    *txn.CHECKS,
    *isolation.CHECKS,
    *share.CHECKS,
    *admin.CHECKS,
)
"""Every check, an area after the other."""


def chosen(patterns: Sequence[str], checks: Sequence[Check] = CHECKS) -> list[Check]:
    """Return the checks that match any of some areas, names or globs; all without patterns.

    Raises:
        LookupError: a pattern matches no check; its argument is the pattern.

    >>> [check.name for check in chosen(["produce/base-offset", "frame/size*"])]
    ['frame/size-negative', 'produce/base-offset']
    """
    for pattern in patterns:
        if not any(_matches(check, pattern) for check in checks):
            raise LookupError(pattern)
    return [
        check
        for check in checks
        if not patterns or any(_matches(check, pattern) for pattern in patterns)
    ]


def _matches(check: Check, pattern: str) -> bool:
    return pattern == check.area or fnmatchcase(check.name, pattern)
