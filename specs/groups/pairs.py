"""The states of two clients that share a transactional id or a group, by who of them is current."""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

NOBODY: Final = "NOBODY"
FIRST: Final = "FIRST"
SECOND: Final = "SECOND"
BOTH: Final = "BOTH"
"""Both are members; of a transactional id, one producer is current."""

ENTERS: Final = "{} enters"
SENDS: Final = "{} sends"
LEAVES: Final = "{} leaves"

_CLIENTS: Final = ("first", "second")
_STATES: Final = (FIRST, SECOND)

# fmt: off
TWO_PRODUCERS: Final = Table(
    source="KIP-98, KIP-360: a new InitProducerId fences the producer before",
    states=(
        (NOBODY, "no producer has the transactional id"),
        (FIRST, "the first producer was initialized last, and has fenced the second one"),
        (SECOND, "the second producer was initialized last, and has fenced the first one"),
    ),
    rows=(
        *((state, ENTERS.format(client), NONE, current)
          for client, current in zip(_CLIENTS, _STATES, strict=True)
          for state in (NOBODY, *_STATES)),
        (FIRST, SENDS.format("first"), ANY, FIRST),
        (SECOND, SENDS.format("second"), ANY, SECOND),
    ),
)

TWO_MEMBERS: Final = Table(
    source="KIP-848: a member that has left, or was never one, is refused",
    states=(
        (NOBODY, "the group has no member"),
        (FIRST, "the first member is alone"),
        (SECOND, "the second member is alone"),
        (BOTH, "both are members"),
    ),
    rows=(
        (NOBODY, ENTERS.format("first"), NONE, FIRST),
        (NOBODY, ENTERS.format("second"), NONE, SECOND),
        (FIRST, ENTERS.format("first"), NONE, FIRST),
        (FIRST, ENTERS.format("second"), NONE, BOTH),
        (SECOND, ENTERS.format("first"), NONE, BOTH),
        (SECOND, ENTERS.format("second"), NONE, SECOND),
        *((BOTH, ENTERS.format(client), NONE, BOTH) for client in _CLIENTS),
        *((state, SENDS.format("first"), ANY, state) for state in (FIRST, BOTH)),
        *((state, SENDS.format("second"), ANY, state) for state in (SECOND, BOTH)),
        *((NOBODY, LEAVES.format(client), OTHER, NOBODY) for client in _CLIENTS),
        (FIRST, LEAVES.format("first"), NONE, NOBODY),
        (SECOND, LEAVES.format("second"), NONE, NOBODY),
        (BOTH, LEAVES.format("first"), NONE, SECOND),
        (BOTH, LEAVES.format("second"), NONE, FIRST),
    ),
)
# fmt: on
