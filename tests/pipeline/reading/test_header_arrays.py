"""The headers of many packets at once are those of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.tcp.fast_headers import fast_tcp_segment
from barnabas.captures.tcp.packets import Packets
from barnabas.pipeline.reading.blocks import blocks
from barnabas.pipeline.reading.endpoints import endpoints
from barnabas.pipeline.reading.header_arrays import fast_headers, slow_packets
from barnabas.pipeline.reading.packet_arrays import PacketArrays
from barnabas.pipeline.reading.ranges import ranges
from barnabas.pipeline.reading.survey import FragmentDetector
from tests.pipeline.generated import KINDS, generated
from tests.pipeline.reading.test_plan import SAMPLES

QUICK = settings(max_examples=25)


def packet_arrays(path: Path) -> list[PacketArrays]:
    return [
        block for one in ranges([path]) for block in blocks(one) if isinstance(block, PacketArrays)
    ]


def check(arrays: PacketArrays) -> int:
    found = {}
    for headers in fast_headers(arrays):
        for at, item in enumerate(headers.items.tolist()):
            start = int(headers.starts[at] - arrays.starts[item])
            seq, ack, flags = (int(x[at]) for x in (headers.seq, headers.ack, headers.flags))
            ends = headers.ends[at].tobytes()
            found[item] = (seq, ack, flags, start, start + int(headers.sizes[at]))
            segment = Packets().tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
            assert segment is not None
            one, other = endpoints(ends)[:: 1 if headers.forward[at] else -1]
            assert (segment.source, segment.target) == (one, other)
    for item in range(len(arrays.blocks)):
        right = fast_tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
        if item in found:
            assert right is not None
            assert right[1:] == found[item]
        elif right is not None:
            # it bears comments, or stands at the very end of the file
            near = arrays.starts[item] + 80 > len(arrays.data)
            assert item in arrays.comments or near
    return len(found)


@QUICK
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32), six=st.booleans())
def test_all_that_usual_finds(tmp_path: Path, kind: str, seed: int, six: bool) -> None:
    path = generated(tmp_path / "f", kind, seed, six=six)
    count = sum(map(check, packet_arrays(path)))
    assert count or kind == "vlan"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples(path: Path) -> None:
    assert sum(map(check, packet_arrays(path)))


@QUICK
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 2**32), noise=st.binary(max_size=12))
def test_no_fragment_is_passed_over(tmp_path: Path, kind: str, seed: int, noise: bytes) -> None:
    """Bytes of headers are made into anything: what is a fragment then is looked at."""
    path = generated(tmp_path / "f", kind, seed, count=1)
    data = bytearray(path.read_bytes())
    (one, *_) = packet_arrays(path)
    for start in one.starts.tolist()[::2]:
        for at, value in enumerate(noise):
            data[start + (seed >> at) % 40] = value
    path.write_bytes(data)
    for arrays in packet_arrays(path):
        looked = set(slow_packets(arrays).tolist())
        for item in range(len(arrays.blocks)):
            detector = FragmentDetector()
            packets = Packets(detector, _scapy=lambda linktype, data: None)
            packets.tcp_segment(int(arrays.linktypes[item]), arrays.packet(item))
            assert not detector.any or item in looked
    assert np.all(np.diff(one.blocks) > 0)
