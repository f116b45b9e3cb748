"""Test a flow that is behind other writers: it is introduced again, and its packets stay the same."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import pytest

from barnabas.captures.comments import document, names_flow
from barnabas.captures.files.pcapng import Buffer, Packet, each
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.tcp.headers import SYN, TcpSegment, parse
from barnabas.captures.writing.block_sink import Behind, Stats
from barnabas.captures.writing.flow_headers import SEGMENT
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.writer import head

CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
LOCAL, BROKER = ("10.0.0.3", 41000), ("10.0.0.4", 9093)
NOW = 1_700_000_000_000_000_000
FIRST = (1 << 16) + 1
"""The number of the first byte of connection 1."""


class Shared:
    """A sink that others write to as well: segments begin before its next puts."""

    losing = False

    def __init__(self) -> None:
        self.stats = Stats()
        self.data = b""
        self.meanwhile = 0
        """How many puts come too late."""
        self._segment = self._seen = 1

    @property
    def segment(self) -> int:
        self._seen = self._segment
        return self._seen

    def put(self, buffers: Sequence[Buffer], packets: int, payload: int) -> bool:
        if self.meanwhile:
            self.meanwhile -= 1
            self._segment += 1
        if self._seen != self._segment:
            raise Behind
        assert packets == len(buffers) // 3
        self.data += b"".join(buffers)
        return True

    def lose(self, packets: int, payload: int) -> bool:
        raise AssertionError("there is room")

    def close(self, last: Callable[[Stats], bytes]) -> None:
        """Do nothing, since nothing is open."""

    def take(self) -> list[tuple[Packet, TcpSegment]]:
        """Return the packets since the last call."""
        data, self.data = head({}) + self.data, b""
        found = []
        for block in each(read_runs(io.BytesIO(data))):
            if isinstance(block, Packet):
                tcp = parse(block.linktype, block.data)
                assert tcp is not None
                found.append((block, tcp))
        return found


def goes_on(packet: Packet) -> list[int]:
    """Return the sequence numbers at which a flow goes on, by its introduction."""
    [text] = packet.comments
    comment = document(text)
    assert names_flow(comment)
    seq: list[int] = comment["goes_on"]["seq"]
    return seq


Act = Callable[[FlowWriter], None]

ACTS: dict[str, Act] = {
    "request": lambda flow: flow.arrived("request", b"tail", NOW),
    "response": lambda flow: flow.arrived("response", b"tail", NOW),
    "packets": lambda flow: flow.arrived("request", bytes(SEGMENT + 1), NOW),
    "cuts": lambda flow: flow.arrived("response", b"tail", NOW, [(0, {"a": 1}), (2, {"b": 2})]),
    "remark": lambda flow: flow.arrived("request", b"", NOW, [(0, {"a": 1})]),
    "fin": lambda flow: flow.close(NOW),
    "reset": lambda flow: flow.close(NOW, reset=True),
}


def begun(sink: Shared) -> FlowWriter:
    """Return a connection of which some was written."""
    flow = FlowWriter(sink, 1, CLIENT, LISTENER, NOW, {})
    flow.arrived("request", b"head", NOW)
    flow.arrived("response", b"answer", NOW)
    sink.take()
    return flow


@pytest.mark.parametrize("late", [1, 2, 5])
@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_its_packets_are_those_of_one_that_was_in_time(act: Act, late: int) -> None:
    alone = Shared()
    act(begun(alone))
    sink = Shared()
    flow = begun(sink)
    sink.meanwhile = late
    act(flow)
    (named, _), *rest = sink.take()
    assert goes_on(named) == [FIRST + 4, FIRST + 6], "as it was before"
    said = [(packet.comments, tcp.seq, tcp.flags, tcp.payload) for packet, tcp in rest]
    assert said == [
        (packet.comments, tcp.seq, tcp.flags, tcp.payload) for packet, tcp in alone.take()
    ]
    assert sink.stats.lost_packets == 0


@pytest.mark.parametrize("late", [1, 2, 5])
def test_what_was_said_of_a_late_flow_is_said_in_the_segment_that_it_comes_to(late: int) -> None:
    sink = Shared()
    flow = begun(sink)
    standing = {"frames": {"request": [1, 0], "response": [1, 0]}, "waiting": [[7, 3, 1]]}
    flow.go_on(NOW, standing)
    sink.meanwhile = late
    flow.arrived("response", b"tail", NOW)
    (named, _), _ = sink.take()
    [text] = named.comments
    said = document(text)["goes_on"]
    assert {key: said[key] for key in standing} == standing
    sink.meanwhile = 1
    flow.arrived("response", b"more", NOW)
    [text] = sink.take()[0][0].comments
    assert document(text)["goes_on"].keys() == {"seq"}, "it held before the packet only"


@pytest.mark.parametrize("late", [1, 2, 5])
def test_a_connection_whose_handshake_is_late_begins_with_it(late: int) -> None:
    sink = Shared()
    sink.meanwhile = late
    flow = FlowWriter(sink, 1, CLIENT, LISTENER, NOW, {})
    assert not sink.data
    flow.arrived("request", b"head", NOW)
    (named, first), *_, (_, last) = found = sink.take()
    [text] = named.comments
    assert "goes_on" not in document(text)
    assert (first.flags, len(found)) == (SYN, 5)
    assert (last.seq, last.payload) == (FIRST, b"head")


@pytest.mark.parametrize("late", [1, 2])
def test_each_of_its_two_flows_is_introduced(late: int) -> None:
    sink = Shared()
    flow = begun(sink)
    flow.upstream(LOCAL, BROKER)
    flow.left("request", b"changed", NOW)
    sink.take()
    sink.meanwhile = late
    flow.close(NOW)
    found = sink.take()
    ports = [tcp.source[1] for _, tcp in found]
    assert ports == [
        *(LOCAL[1], LOCAL[1], BROKER[1], LOCAL[1]),
        *(CLIENT[1], CLIENT[1], LISTENER[1], CLIENT[1]),
    ]
    assert goes_on(found[0][0]) == [FIRST + 7, FIRST]
    assert goes_on(found[4][0]) == [FIRST + 4, FIRST + 6]
    flow.close(NOW)
    assert not sink.data, "it is closed once"
