"""Of two clients one takes an answer that the other refuses, or they take something else from it."""

from __future__ import annotations

from functools import partial
from typing import Final

from barnabas.fuzz.oracles.differing import differs
from barnabas.fuzz.oracles.oracle import Oracle

CLIENTS_DIFFER: Final = Oracle(
    "clients-differ",
    "two clients make different things of one answer",
    frozenset(("client",)),
    partial(differs, "clients-differ"),
    "the same as the other client makes of it",
)
