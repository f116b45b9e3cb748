"""Turn the packets of one capture section into events of its connections.

The reader reassembles TCP streams, decrypts TLS, and drops conversations of other protocols.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from barnabas.captures.comments import document, names_flow, naming
from barnabas.captures.files.pcapng import (
    Packet,
    Run,
)
from barnabas.captures.host_port import Endpoint, endpoint_text
from barnabas.captures.kafka.framing.protocol_detection import OtherProtocol, ProtocolDetection
from barnabas.captures.tcp import reassembly
from barnabas.captures.tcp.events import Chunk, Closed, Event, FlowName, Linked, Lost, Opened
from barnabas.captures.tcp.fast_headers import FastTcpSegment, fast_tcp_segment
from barnabas.captures.tcp.half import Data, Gap
from barnabas.captures.tcp.headers import SYN, Captured, TcpSegment
from barnabas.captures.tcp.mid_stream import MidStream, introduction
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tcp.reassembly import WAIT_LIMIT, Reassembler
from barnabas.captures.tcp.share import Share, ShareFlows
from barnabas.captures.tls.decryption import Decryption
from barnabas.specs.frames import DIRECTIONS

_GOES_ON: Final = '"goes_on"'


class SectionReader:
    """A reader of one section's packets, which assigns each TCP flow to a connection.

    A capture can hold several concatenated sections; connections of this one are numbered from `base`. If
    barnabas wrote the capture, a flow without its naming comment gets a negative number. If `only` is set,
    the other conversations are skipped, and connections without a number in a comment get the numbers of
    their flows.
    """

    def __init__(
        self,
        ours: bool,
        base: int,
        left_out: Counter[tuple[int, OtherProtocol]],
        decryption: Decryption,
        linked: dict[int, Linked],
        only: ShareFlows | None = None,
    ) -> None:
        # a capture of barnabas never repeats bytes: missing bytes won't arrive later
        wait_limit = 0 if ours else WAIT_LIMIT
        self.flows = Reassembler(wait_limit=wait_limit, numbers=only and only.numbers)
        self._highest = base
        self.ours = ours
        self._base = base
        self._names: dict[int, tuple[int, FlowName]] = {}
        self._detection = ProtocolDetection(base, left_out, renumbers=only is None)
        self._decryption = decryption
        self._linked = linked
        self._mid_stream = MidStream()
        self.number = 0
        """The number of the packet that the current event comes from, unless the event has one."""
        self.ending = 0
        """Where the current event comes from: 0: a packet; at the end of the section, 1: data that waited in
        a flow, 2: a conversation that was undecided until then."""
        self._share = only and only.share
        self._named_in_share: dict[tuple[Endpoint, Endpoint], bool] = {}
        """Whether a conversation whose comment names its connection is in the share."""

    @property
    def highest(self) -> int:
        """Return the highest connection number so far."""
        return self._highest if self.ours else self._detection.base

    def run(self, run: Run, packets: Packets, number: int) -> Iterator[Event]:
        """Yield the events of a run of packets. `number` is the number of the run's first packet."""
        for item in self.flows.run(run, number):
            if isinstance(item, int):
                yield from self.packet(run.packet(item), packets, number + item)
            elif self.ours and not self._mid_stream:  # same result as `event`, but faster
                _, direction, ts_ns, data, _, last = item
                yield Chunk(*self._names[item.flow], direction, ts_ns, data, (), last)
            else:
                self.number = item.packet
                yield from self.event(item)

    def packet(self, packet: Packet, packets: Packets, number: int) -> Iterable[Event]:
        """Return the events of one packet. Consume them all before the next call."""
        self.number = number
        ts_ns, linktype, data, comments, _ = packet
        tcp = packets.tcp_segment(linktype, data)
        if tcp is None:
            return ()
        fast = None if comments else fast_tcp_segment(linktype, data)
        return self.tcp_segment(tcp, ts_ns, comments, number, fast)

    def tcp_segment(
        self,
        tcp: TcpSegment,
        ts_ns: int,
        comments: tuple[str, ...],
        number: int,
        fast: FastTcpSegment | None = None,
    ) -> Iterator[Event]:
        """Yield the events of a TCP segment with its comments. Consume them all before the next call."""
        if self._share is not None and not self._in_share(self._share, tcp, comments):
            for event in self.flows.leave_out(tcp, ts_ns, fast):
                yield from self.event(event)
            return
        if self.ours and comments and _GOES_ON in comments[0] and not tcp.payload:
            yield from self._resumed(tcp, ts_ns, comments)
            return
        for event in self.flows.feed(tcp, ts_ns, comments, number):
            yield from self.event(event)
        if fast is not None:
            self.flows.learn(fast, tcp)

    def _in_share(self, share: Share, tcp: TcpSegment, comments: tuple[str, ...]) -> bool:
        ends = reassembly.key_of(tcp)
        if comments and (tcp.flags & SYN or _GOES_ON in comments[0]):
            comment = naming(comments)
            if comment:
                self._named_in_share[ends] = share.has(ends, comment["connection"])
        named = self._named_in_share.get(ends)
        return share.has(ends, None) if named is None else named

    def _resumed(self, tcp: TcpSegment, ts_ns: int, comments: tuple[str, ...]) -> Iterator[Event]:
        """Yield the events of a flow that the next segment of the capture introduces again.

        A flow that this reader follows already brings no events.
        """
        comment = document(comments[0])
        resumed = introduction(comment)
        if resumed is None or not names_flow(comment):
            return
        flow = self.flows.followed(tcp)
        if flow is not None and self._names[flow][0] == self._number(comment["connection"]):
            return
        texts = (json.dumps(resumed.comment),)
        again = Captured(tcp, ts_ns, texts, 0)
        for event in self.flows.resume(again, resumed.seq, flow is not None):
            yield from self.event(event)
            if not isinstance(event, reassembly.Opened) or self._names[event.flow][1] == "left":
                continue
            self._mid_stream.begin(event.flow, resumed.rest)
            for direction in DIRECTIONS:
                if (
                    direction not in resumed.rest
                ):  # the reader must find where the next frame begins
                    yield Lost(self._names[event.flow][0], "arrived", direction, ts_ns, 0)

    def _number(self, number: int) -> int:
        """Return the number of a connection of this section among the connections of all sections."""
        return number + self._base if number > 0 and self.ours else number

    def event(self, event: reassembly.Event) -> Iterable[Event]:
        """Return the capture events that a reassembly event causes."""
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
            comment = naming(event.comments)
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
                *(number, event.ts_ns, client, server, comment),
                *(event.handshake, event.needs, event.roles_known),
            )
        number, flow = self._names[event.flow]
        if isinstance(event, Gap):
            return Lost(number, flow, event.direction, event.ts_ns, event.size)
        del self._names[event.flow]
        if flow == "left":
            return None
        # the arrived flow closes last
        self._linked.pop(number, None)
        # a capture of barnabas does not record which side closed first
        return Closed(number, event.ts_ns, event.reset, None if self.ours else event.by)

    def end(self) -> Iterator[Event]:
        """Yield the events of all data that still waits at the end of the section."""
        self.ending = 1
        for event in self.flows.end():
            yield from self.event(event)
        yield from chain.from_iterable(map(self._detection.feed, self._decryption.end()))
        self.ending = 2
        yield from self._detection.end()
