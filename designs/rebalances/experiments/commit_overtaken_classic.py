"""A commitAsync overtaken by JoinGroup, as in `commit_overtaken`: the classic protocol of 3.9.1 and 4.3.1.

It asks brokers of today, and belongs to document 003: it tests that document's claim with its campaign.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.rebalances.campaign import Case, commits

CASES: Final = (Case("4.3.1", "classic", 20), Case("3.9.1", "classic", 20))
SHORT: Final = (Case("4.3.1", "classic", 2, ("same connection",)),)

EXPERIMENT: Final = commits(
    "If JoinGroup overtakes an OffsetCommit of commitAsync in 3.9.1 and 4.3.1 (classic protocol): does "
    "the commit count, and what is processed twice?",
    CASES,
    SHORT,
)
