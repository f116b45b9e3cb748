"""From the packets of one section of a capture to the events of its connections.

Streams are reassembled, TLS is decrypted, and what does not speak Kafka is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from barnabas.captures.comments import document, names_flow
from barnabas.captures.files.pcapng import (
    Packet,
    Run,
)
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.framing.protocol_detection import Kind, ProtocolDetection
from barnabas.captures.tcp import reassembly
from barnabas.captures.tcp.events import Chunk, Closed, Event, FlowName, Linked, Lost, Opened
from barnabas.captures.tcp.fast_headers import FastTcpSegment, fast_tcp_segment
from barnabas.captures.tcp.half import Data, Gap
from barnabas.captures.tcp.headers import Captured, TcpSegment
from barnabas.captures.tcp.mid_stream import MidStream, introduction
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tcp.reassembly import PATIENCE, Reassembler
from barnabas.captures.tls.decryption import Decryption
from barnabas.specs.frames import DIRECTIONS

_GOES_ON: Final = '"goes_on"'


class SectionReader:
    """Reads the packets of a section, and finds out which connection each flow belongs to.

    Sections may have been put one behind the other: each counts its connections from `base`. A
    flow of ours that has lost its name gets a negative number. With `numbers` flows get those, in the
    order in which they open, and so do connections that no comment numbers.
    """

    def __init__(
        self,
        ours: bool,
        base: int,
        left_out: Counter[tuple[int, Kind]],
        decryption: Decryption,
        linked: dict[int, Linked],
        numbers: Iterator[int] | None = None,
    ) -> None:
        # a file of ours repeats nothing: what is missing will not come
        patience = 0 if ours else PATIENCE
        self.flows = Reassembler(patience=patience, numbers=numbers)
        self._highest = base
        self.ours = ours
        self._base = base
        self._names: dict[int, tuple[int, FlowName]] = {}
        self._detection = ProtocolDetection(base, left_out, renumbers=numbers is None)
        self._decryption = decryption
        self._linked = linked
        self._mid_stream = MidStream()

    @property
    def highest(self) -> int:
        """The highest number that a connection has got."""
        return self._highest if self.ours else self._detection.base

    def run(self, run: Run, packets: Packets, number: int) -> Iterator[Event]:
        """What a run of packets brings, the first of which has this number."""
        for found in self.flows.run(run, number):
            if isinstance(found, int):
                yield from self.packet(run.packet(found), packets, number + found)
            elif self.ours and not self._mid_stream:  # as `event` does, at once
                _, direction, ts_ns, data, _, last = found
                yield Chunk(*self._names[found.flow], direction, ts_ns, data, (), last)
            else:
                yield from self.event(found)

    def packet(self, packet: Packet, packets: Packets, number: int) -> Iterable[Event]:
        """What a packet brings. Consume it all before the next call."""
        ts_ns, linktype, data, comments, _ = packet
        tcp = packets.tcp_segment(linktype, data)
        if tcp is None:
            return ()
        found = None if comments else fast_tcp_segment(linktype, data)
        return self.tcp_segment(tcp, ts_ns, comments, number, found)

    def take_fast(
        self, found: FastTcpSegment, data: memoryview, ts_ns: int, number: int
    ) -> Iterable[Event] | None:
        """What a packet of the usual form brings at once; None: `tcp_segment` is to have it."""
        lane = self.flows.lane_of(found.key)
        if lane is None:
            return None
        flow, half, other = lane
        events = flow.take_fast(half, other, found, data, ts_ns, number)
        if events is None:
            return None
        if not events:
            return ()
        return chain.from_iterable(map(self.event, events))

    def tcp_segment(
        self,
        tcp: TcpSegment,
        ts_ns: int,
        comments: tuple[str, ...],
        number: int,
        found: FastTcpSegment | None = None,
    ) -> Iterator[Event]:
        """What a TCP segment brings, with the comments of its packet. Consume it all before the next call."""
        if self.ours and comments and _GOES_ON in comments[0] and not tcp.payload:
            yield from self._resumed(tcp, ts_ns, comments)
            return
        for event in self.flows.feed(tcp, ts_ns, comments, number):
            yield from self.event(event)
        if found is not None:
            self.flows.learn(found, tcp)

    def _resumed(self, tcp: TcpSegment, ts_ns: int, comments: tuple[str, ...]) -> Iterator[Event]:
        """A flow is introduced again in the next segment of the capture: news only if it is not known yet."""
        comment = document(comments[0])
        found = introduction(comment)
        if found is None or not names_flow(comment):
            return
        flow = self.flows.followed(tcp)
        if flow is not None and self._names[flow][0] == self._number(comment["connection"]):
            return
        texts = (json.dumps(found.comment),)
        again = Captured(tcp, ts_ns, texts, 0)
        for event in self.flows.resume(again, found.seq, flow is not None):
            yield from self.event(event)
            if not isinstance(event, reassembly.Opened) or self._names[event.flow][1] == "left":
                continue
            self._mid_stream.begin(event.flow, found.rest)
            for way in DIRECTIONS:
                if way not in found.rest:  # where its next frame begins is to be found out
                    yield Lost(self._names[event.flow][0], "arrived", way, ts_ns, 0)

    def _number(self, said: int) -> int:
        """The number of a connection of this section among those of all."""
        return said + self._base if said > 0 and self.ours else said

    def event(self, event: reassembly.Event) -> Iterable[Event]:
        """What an event of the reassembler means."""
        if self._mid_stream and isinstance(event, Data | Gap):
            cut = self._mid_stream.cut(event)
            if cut is None:
                return ()
            event = cut
        named = self._named(event)
        if named is None:
            return ()
        if self.ours:
            return (named,)
        if self._decryption.lets_through(named):
            return self._detection.feed(named)
        return chain.from_iterable(map(self._detection.feed, self._decryption.feed(named)))

    def _named(self, event: reassembly.Event) -> Event | None:
        if isinstance(event, Data):
            number, flow = self._names[event.flow]
            comments = tuple(map(document, event.comments)) if event.comments else ()
            return Chunk(
                number, flow, event.direction, event.ts_ns, event.data, comments, event.packet
            )
        if isinstance(event, reassembly.Opened):
            comment = next(
                (found for found in map(document, event.comments) if names_flow(found)), {}
            )
            number = self._number(
                comment.get("connection", -event.flow if self.ours else event.flow)
            )
            flow = "left" if comment.get("flow") == "left" else "arrived"
            self._highest = max(self._highest, number)
            self._names[event.flow] = number, flow
            if flow == "left":
                self._linked[number] = Linked(event.client, event.server, comment)
                return None
            client, server = endpoint_text(event.client), endpoint_text(event.server)
            return Opened(
                number, event.ts_ns, client, server, comment, event.handshake, event.needs
            )
        number, flow = self._names[event.flow]
        if isinstance(event, Gap):
            return Lost(number, flow, event.direction, event.ts_ns, event.size)
        del self._names[event.flow]
        if flow == "left":
            return None
        # the arrived flow is the last to be closed
        self._linked.pop(number, None)
        # a file of ours does not say whose end came first
        return Closed(number, event.ts_ns, event.reset, None if self.ours else event.by)

    def end(self) -> Iterator[Event]:
        """The section is over: what still waits."""
        for event in self.flows.end():
            yield from self.event(event)
        yield from chain.from_iterable(map(self._detection.feed, self._decryption.end()))
        self._detection.end()
