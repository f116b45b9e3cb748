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
from barnabas.captures.checks.finding import Check, NoSettings

__all__ = ["DRAFT_CHECKS"]

# fmt: off
DRAFT_CHECKS: Final[tuple[Check, ...]] = (
    Check("rewrite_states", NoSettings(), rewrite_states.rewrite_states,
          "steps that the consumer rewrite does not have", rewrite_states.HOLDS),
    Check("rewrite_owners", NoSettings(), rewrite_owners.rewrite_owners,
          "two owners of a partition, generations that go back, stale commits", rewrite_owners.HOLDS),
    Check("central_states", NoSettings(), central_states.central_states,
          "steps that central coordination does not have", central_states.HOLDS),
    Check("central_rebalances", NoSettings(), central_rebalances.central_rebalances,
          "fetchers that are started while others run, two owners, offsets that go back",
          central_rebalances.HOLDS),
)
# fmt: on
