"""What the send thread's select waits for: sockets that take bytes, and until when. Pure functions."""

from __future__ import annotations

import math

from barnabas.designs.pipelined_producer.peers.actions import METADATA
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED
from barnabas.designs.pipelined_producer.peers.link import State
from barnabas.designs.pipelined_producer.peers.loop import Loop


def wants_write(loop: Loop) -> set[int]:
    """The nodes for which there is something to write; what the steps would not write must not be here."""
    links, retries, refresher = loop.links, loop.retries, loop.refresher
    found = {link.node for link in links.all() if link.up and link.outgoing}
    if (
        refresher.link.state == State.READY
        and not refresher.busy
        and refresher.link.not_before <= loop.now
        and refresher.needed(loop.places(), loop.now)
    ):
        found.add(METADATA)
    if loop.standing_still:
        return found & {METADATA}
    new = loop.intake.ripe(loop.settings.batch_messages, loop.ripe)
    keyless = {topic for topic, partition in new if partition == UNDESIGNATED}
    again, held = retries.ripe(loop.now), retries.held()
    for link in links.brokers.values():
        if links.has_room(link) and any(
            place in again or (place not in held and (place in new or place[0] in keyless))
            for place in links.served(link)
        ):
            found.add(link.node)
    return found


def wake(loop: Loop) -> float | None:
    """When to go on although nothing comes; None: not before something does.

    Asked where the loop waits, which is when new connections were configured.
    """
    if not loop.idle or any(loop.late(link) for link in loop.links.all()):
        return loop.now  # it was said behind the step that does it
    expiry = loop.settings.expiry_ms / 1e3
    times = [*loop.retries.times(expiry), *loop.links.busy(), loop.refresher.due]
    firsts = loop.intake.firsts()
    times.append(min(firsts, default=math.inf) + expiry)
    # of each queue: the oldest may be one that is ripe for long and has no room, or no leader
    times += (first + loop.settings.linger_ms / 1e3 for first in firsts)
    return min((time for time in times if loop.now < time < math.inf), default=None)
