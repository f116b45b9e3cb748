"""The fast path of reassembly, for packets of the usual form that are in order.

Any other packet takes the careful path in `reassembly`: one of another form, of a conversation that is not
known, begins or ends, one behind a gap, a retransmission.
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
"""A direction of a conversation: the sender's half, and that of who acknowledges."""


_UNUSUAL: Final = SYN | FIN | RST


def reassemble_run(lanes: Mapping[bytes, Lane], run: Run, number: int) -> Iterator[Data | int]:
    """What the packets of a run bring, the first of which has this number; of one that must take the careful
    path, its place in the run.

    All must be used before the next is asked for: a packet may open a lane or close one, and who uses
    the Data says what can be gathered.
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
            found = fast_tcp_segment(linktype, bytes(data[begin:end]))
            if found is None:
                yield index
                continue
            key, seq, ack, word, start, end = found
            start, end = begin + start, begin + end
        lane = find(key)
        if lane is None:
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
            or (flow.patience and 0 < (ack - other.first - other.position) % MODULUS < OLD)
        ):
            yield index
            continue
        flow.count += 1
        if start < end and (payload := half.gather(data[start:end], ts_ns, number + index)):
            yield Data(flow.number, half.direction, ts_ns, payload, (), number + index)
