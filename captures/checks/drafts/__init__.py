"""Checks of protocols that never shipped: `barnabas check FILE --checks captures.checks.drafts:DRAFT_CHECKS`.

They are not among CHECKS. A capture does not say that it is of a draft, and what the rewrite calls a
JoinGroup is another one in Kafka 0.9: of Kafka's own traffic these would find nonsense. Of central
coordination, in which the broker asks, captures have no exchanges: its tables are for its peers alone.
"""

from __future__ import annotations

from typing import Final

from captures.checks.drafts import rewrite_owners, rewrite_states
from captures.checks.finding import Check, NoSettings

__all__ = ["DRAFT_CHECKS"]

# fmt: off
DRAFT_CHECKS: Final[tuple[Check, ...]] = (
    Check("rewrite_states", NoSettings(), rewrite_states.rewrite_states,
          "steps that the consumer rewrite does not have", rewrite_states.HOLDS),
    Check("rewrite_owners", NoSettings(), rewrite_owners.rewrite_owners,
          "two owners of a partition, generations that go back, stale commits", rewrite_owners.HOLDS),
)
# fmt: on
