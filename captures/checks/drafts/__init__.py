"""Checks of protocols that never shipped: `barnabas check FILE --checks captures.checks.drafts:DRAFT_CHECKS`.

They are not among CHECKS. A capture made without a dialect does not say that it is of a draft, and what the
rewrite calls a JoinGroup is another one in Kafka 0.9: of Kafka's own traffic these would find nonsense.
Where a capture's scenario has a dialect, or `--draft` says it, `barnabas check` runs them by itself.
"""

from __future__ import annotations

from typing import Final

from barnabas.captures.checks.drafts import (
    central_rebalances,
    central_states,
    rewrite_owners,
    rewrite_states,
)
from barnabas.captures.checks.finding import Check

__all__ = ["DRAFT_CHECKS"]

DRAFT_CHECKS: Final[tuple[Check, ...]] = (
    rewrite_states.CHECK,
    rewrite_owners.CHECK,
    central_states.CHECK,
    central_rebalances.CHECK,
)
