"""What a capture shows to be wrong. One file a check: a function over exchanges, with its thresholds.

A check sees the exchanges in the order in which they end, once, and keeps little of them. What began
before the capture, or stands where it has a gap, it does not know, and finds nothing in. A check of
one's own needs no fork: a tuple like this one goes to `barnabas check --checks`.
"""

from __future__ import annotations

from typing import Final

from barnabas.captures.checks import (
    backoff,
    commits,
    correlation_ids,
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
from barnabas.captures.checks.finding import Check, NoSettings

__all__ = ["CHECKS", "Check"]

# fmt: off
CHECKS: Final[tuple[Check, ...]] = (
    Check("responses", NoSettings(), responses.responses,
          "responses out of order, or without a request; requests passed over", responses.HOLDS),
    Check("correlation_ids", NoSettings(), correlation_ids.correlation_ids,
          "correlation ids used again while their request waits", correlation_ids.HOLDS),
    Check("versions", NoSettings(), versions.versions,
          "requests of a version that was never offered", versions.HOLDS),
    Check("backoff", backoff.Backoff(), backoff.backoff,
          "the same request again and again without a pause", backoff.HOLDS),
    Check("fetch_loops", fetch_loops.FetchLoops(), fetch_loops.fetch_loops,
          "Fetch after Fetch with the same error", fetch_loops.HOLDS),
    Check("leaders", leaders.Leaders(), leaders.leaders,
          "requests to a broker that neither leads nor is preferred for reading", leaders.HOLDS),
    Check("sequences", NoSettings(), sequences.sequences,
          "gaps and repetitions in an idempotent producer's sequence numbers", sequences.HOLDS),
    Check("order", NoSettings(), order.order,
          "records of a partition in another order than they were sent in", order.HOLDS),
    Check("heartbeats", heartbeats.Heartbeats(), heartbeats.heartbeats,
          "members of groups that are silent for too long", heartbeats.HOLDS),
    Check("joins", joins.Joins(), joins.joins,
          "rebalances that take long, and because of which member", joins.HOLDS),
    Check("rebalances", rebalances.Rebalances(), rebalances.rebalances,
          "members that poll too late, or leave a group and come back over and over", rebalances.HOLDS),
    Check("commits", NoSettings(), commits.commits,
          "positions committed by members of a past generation", commits.HOLDS),
    Check("group_states", NoSettings(), group_states.group_states,
          "steps that the classic group protocol does not have", group_states.HOLDS),
    Check("member_epochs", NoSettings(), member_epochs.member_epochs,
          "steps that the protocol of KIP-848 does not have", member_epochs.HOLDS),
)
# fmt: on
