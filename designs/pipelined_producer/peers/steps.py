"""The document's event loop: its lines, in its words and order.

Who has the sockets goes through it again and again: at a `Select` it finds out what can be read or
written and sets `Loop.heard` or `Loop.takes`; any other step is for `Loop.do`. The first select waits
(`selecting.wake`), and sets `Loop.now` when that is over. The second does not: what was heard may have made
room to write in the same round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from barnabas.designs.pipelined_producer.peers.actions import Select
from barnabas.designs.pipelined_producer.peers.loop import Loop

STEPS: Final[tuple[tuple[str, Callable[[Loop], None] | Select], ...]] = (
    ("configure any new broker connections", Loop.configure_connections),
    ("select readable keys", Select.READABLE),
    ("handle responses", Loop.handle_responses),
    ("select writable keys", Select.WRITABLE),
    (
        "handle topic metadata requests, if there are non-zero partitions in error",
        Loop.handle_metadata,
    ),
    ("handle incomplete requests", Loop.handle_incomplete),
    ("handle retries, if any", Loop.handle_retries),
    ("handle new requests", Loop.handle_new),
)
"""The document's event loop: what it says, and what that is here."""
