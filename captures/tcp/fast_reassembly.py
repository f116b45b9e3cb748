"""Reassemble plain packets that are in order: the fast path of reassembly.

All other packets take the careful path in `reassembly`: packets of other forms, the first and last packets of
a conversation, packets of unknown conversations or after a gap, and retransmissions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from barnabas.captures.files.pcapng import Run
from barnabas.captures.tcp.fast_headers import LEAST, LEAST_WORD, V4, fast_tcp_segment
from barnabas.captures.tcp.flow import Flow
from barnabas.captures.tcp.half import MODULUS, OLD, Data, Half
from barnabas.captures.tcp.headers import (
    DATA_OFFSET,
    FIN,
    FRAGMENT,
    IPV4_HEADER,
    IPV4_PLAIN,
    RST,
    SYN,
    TCP,
)

Lane = tuple[Flow, Half, Half]
"""One direction of a conversation: the flow, the sender's half, and the receiver's half."""

_UNKNOWN: Final = ()

_UNUSUAL: Final = SYN | FIN | RST


def reassemble_run(  # noqa: C901 (calls would take longer than the work)
    lanes: Mapping[bytes, Lane | None], run: Run, number: int
) -> Iterator[Data | int]:
    """Yield the data that the packets of a run complete, and the index of each packet for the careful path.

    The caller must handle each item before it asks for the next: a packet may open or close a lane, and the
    reader of Data sets how much is gathered.

    Args:
        lanes: Known directions, by `FastTcpSegment.key`; None: its packets other than SYN are skipped.
        run: The packets.
        number: The number of the run's first packet.
    """
    headers = V4.get(run.linktype)
    if headers is None:
        yield from range(len(run.places))
        return
    data, places, linktype = run.data, run.places, run.linktype
    unpack, four, before = headers.layout.unpack_from, headers.kind, headers.before
    find = lanes.get
    for index, (ts_ns, begin, end) in enumerate(places):
        start = begin + before
        if end - start < LEAST:
            yield index
            continue
        kind, first, length, fragment, protocol, key, seq, ack, word = unpack(data, begin)
        if first == IPV4_PLAIN and kind == four:
            end, stop = start + length, end
            start += IPV4_HEADER + (word >> DATA_OFFSET) * 4
            if (
                protocol != TCP
                or fragment & FRAGMENT
                or word < LEAST_WORD
                or not start <= end <= stop
            ):
                yield index
                continue
        else:
            segment = fast_tcp_segment(linktype, bytes(data[begin:end]))
            if segment is None:
                yield index
                continue
            key, seq, ack, word, start, end = segment
            start, end = begin + start, begin + end
        lane = find(key, _UNKNOWN)
        if not lane:
            if lane is _UNKNOWN or word & SYN:
                yield index
            continue
        flow, half, other = lane
        if (
            word & _UNUSUAL
            or half.early
            or other.early
            or half.first is None
            or other.first is None
            or (seq - half.first - half.position) % MODULUS
            or (flow.wait_limit and 0 < (ack - other.first - other.position) % MODULUS < OLD)
        ):
            yield index
            continue
        flow.count += 1
        if start < end and (payload := half.gather(data[start:end], ts_ns, number + index)):
            yield Data(flow.number, half.direction, ts_ns, payload, (), number + index)
