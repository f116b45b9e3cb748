"""The states of a consumer's fetch session (KIP-227), given its Fetch requests and their responses."""

from __future__ import annotations

from typing import Final

from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

NO_SESSION: Final = "NO_SESSION"
IN_SESSION: Final = "IN_SESSION"

OPEN: Final = "open"
NEXT: Final = "next"
OTHER_EPOCH: Final = "another epoch"
OTHER_SESSION: Final = "another session"
CLOSE: Final = "close"

# fmt: off
FETCH_SESSION: Final = Table(
    source="KIP-227; FetchManager",
    states=(
        (NO_SESSION, "each Fetch names all partitions"),
        (IN_SESSION, "a Fetch names what is other than before"),
    ),
    rows=(
        (NO_SESSION, OPEN, NONE, IN_SESSION),
        (NO_SESSION, OPEN, OTHER, NO_SESSION),
        (NO_SESSION, CLOSE, ANY, NO_SESSION),
        (IN_SESSION, OPEN, ANY, IN_SESSION),
        (IN_SESSION, NEXT, ANY, IN_SESSION),
        (IN_SESSION, OTHER_EPOCH, OTHER, IN_SESSION),
        (IN_SESSION, OTHER_SESSION, OTHER, IN_SESSION),
        (IN_SESSION, CLOSE, NONE, NO_SESSION),
        (IN_SESSION, CLOSE, OTHER, IN_SESSION),
    ),
)
# fmt: on
