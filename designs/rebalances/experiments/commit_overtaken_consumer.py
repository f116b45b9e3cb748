"""A commitAsync overtaken as in `commit_overtaken`: the consumer protocol (KIP-848) of 3.9.1 and 4.3.1.

There the heartbeat that gives partitions up takes JoinGroup's place. In 3.9.1 the protocol is a
preview, which the broker's settings enable.
It asks brokers of today, and belongs to document 003: it tests that document's claim with its campaign.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.rebalances.campaign import Case, commits

CASES: Final = (Case("4.3.1", "consumer", 20), Case("3.9.1", "consumer", 20))
SHORT: Final = (
    Case("4.3.1", "consumer", 4, ("same connection",)),
    Case("3.9.1", "consumer", 2, ("same connection",)),
)

EXPERIMENT: Final = commits(
    "If the heartbeat that gives partitions up overtakes an OffsetCommit of commitAsync (consumer "
    "protocol): does the commit count, and what is processed twice?",
    CASES,
    SHORT,
)
