"""An old commit that arrives after a newer one (0.11.0.1): whether it overwrites the newer one.

It belongs to document 003, which discusses late commits of commitAsync.
"""

from __future__ import annotations

from typing import Final

from barnabas.designs.rebalances.campaign import Case, commits

ONLY: Final = (
    "other, a third awaited",
    "listener, other connection",
    "listener, other, awaited",
    "retry in the callback",
)
CASES: Final = (Case("0.11.0.1", "classic", 50, ONLY),)
SHORT: Final = (Case("0.11.0.1", "classic", 2, ONLY[-1:]),)

EXPERIMENT: Final = commits(
    "Can a commit that comes late, over a connection that was replaced or from a retry in the callback, "
    "overwrite a newer offset, even that of commitSync in onPartitionsRevoked?",
    CASES,
    SHORT,
)
