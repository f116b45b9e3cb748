"""The document's event loop: its steps, in its words and order, and the conditions of its selects.

The owner of the sockets repeats the steps. At a `Select` it finds out which sockets are readable or writable,
and sets `Loop.heard` or `Loop.takes`; any other step is for `Loop.do`. The first select waits (`wake`), and
sets `Loop.now` after that. The second does not wait: a response may have made room to write in the same
round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from barnabas.designs.pipelined_producer.peers.actions import Select
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED
from barnabas.designs.pipelined_producer.peers.links import METADATA, State
from barnabas.designs.pipelined_producer.peers.loop import Loop

# fmt: off
STEPS: Final[tuple[tuple[str, Callable[[Loop], None] | Select], ...]] = (
    ("configure any new broker connections", Loop.configure_connections),
    ("select readable keys", Select.READABLE),
    ("handle responses", Loop.handle_responses),
    ("select writable keys", Select.WRITABLE),
    ("handle topic metadata requests, if there are non-zero partitions in error", Loop.handle_metadata),
    ("handle incomplete requests", Loop.handle_incomplete),
    ("handle retries, if any", Loop.handle_retries),
    ("handle new requests", Loop.handle_new),
)
# fmt: on
"""The document's lines, and their implementations."""


def wants_write(loop: Loop) -> set[int]:
    """Return the nodes to which the steps would write if they took bytes, and no others."""
    links, retries, refresher = loop.links, loop.retries, loop.refresher
    nodes = {link.node for link in loop.in_use() if link.up and link.outgoing}
    if refresher.link.state == State.READY and refresher.needed(loop.places(), loop.now):
        nodes.add(METADATA)
    if loop.standing_still:
        return nodes
    new = loop.intake.ripe(loop.settings.batch_messages, loop.ripe)
    keyless = {topic for topic, partition in new if partition == UNDESIGNATED}
    again, held = retries.ripe(loop.now), retries.held()
    for link in links.brokers.values():
        if links.has_room(link) and any(
            topic_partition in again
            or (
                topic_partition not in held
                and (topic_partition in new or topic_partition[0] in keyless)
            )
            for topic_partition in links.served(link)
        ):
            nodes.add(link.node)
    return nodes


def wake(loop: Loop) -> float | None:
    """Return when the first select ends without any event; None: never.

    Call it where the loop waits, which is after new connections were configured.
    """
    if loop.actions or any(link.deadline <= loop.now for link in loop.in_use()):
        return loop.now  # a later step than the one that handles it found this
    expiry = loop.settings.expiry_ms / 1e3
    firsts = loop.intake.firsts()
    times = [*loop.retries.times(expiry), loop.refresher.due]
    times += (time for link in loop.links.all() for time in (link.not_before, link.deadline))
    times.append(min(firsts, default=math.inf) + expiry)
    # of each queue: the oldest may be one that is ripe for long and has no room, or no leader
    times += (first + loop.settings.linger_ms / 1e3 for first in firsts)
    return min((time for time in times if loop.now < time < math.inf), default=None)
