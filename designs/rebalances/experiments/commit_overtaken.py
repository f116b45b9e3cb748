"""A commitAsync overtaken by JoinGroup (0.11.0.1): whether it counts, and which records are read twice.

It belongs to document 003, which concludes this from the code of 0.11.0.1.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.rebalances.campaign import Case, commits

CASES: Final = (Case("0.11.0.1", "classic", 50),)
SHORT: Final = (Case("0.11.0.1", "classic", 2, ("same connection", "the other member's join")),)

EXPERIMENT: Final = commits(
    "If JoinGroup overtakes an OffsetCommit of commitAsync: does the commit count, with which error, "
    "where does the new owner start, and what is processed twice?",
    CASES,
    SHORT,
)
