"""Test that the reader finds the same exchanges as `oracle` for any network, sniffer and file format."""

from __future__ import annotations

import bisect
import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import partial_of
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import TcpSegment
from tests.captures.network import (
    ENDINGS,
    LINKS,
    Conversation,
    Habits,
    as_pcap,
    as_pcapng,
    conversations,
    interleaved,
    moved,
    sent,
    with_noise,
    wrapped,
)
from tests.captures.oracle import Seen, expected
from tests.captures.traffic import NOW

MS = 1_000_000

pytestmark = pytest.mark.filterwarnings("ignore")

HABITS = st.builds(
    Habits,
    repeat=st.sampled_from([0.0, 0.3]),
    probe=st.sampled_from([0.0, 0.2]),
    chatter=st.sampled_from([0.0, 0.5]),
)
SIZES = st.lists(
    st.integers(1, 9) | st.integers(30, 200) | st.just(1448), min_size=1, max_size=8
).filter(lambda sizes: sum(sizes) >= 60 * len(sizes))
ISNS = st.integers(0, 2**32 - 1) | st.integers(2**32 - 600, 2**32 - 1)


class Network(NamedTuple):
    """The way in which conversations are sent."""

    isn: int
    sizes: list[int]
    habits: Habits
    ending: str
    seed: int

    def sent(self, count: int, **talks: Any) -> tuple[list[Conversation], list[TcpSegment], Random]:
        """Return conversations, their segments in sending order, and the random generator."""
        found, random = conversations(count, self.isn, **talks), Random(self.seed)
        each = [sent(one, self.sizes, random, self.habits, self.ending) for one in found]
        return found, interleaved(each, random), random


NETWORKS = st.builds(Network, ISNS, SIZES, HABITS, st.sampled_from(ENDINGS), st.integers(0, 2**32))


def found(*paths: Path) -> list[Exchange]:
    """Return the exchanges whose request is whole."""
    exchanges = Conversations().exchanges(CaptureReader(*paths))
    whole = (exchange for exchange in exchanges if partial_of(exchange.note) != "request")
    return sorted(whole, key=lambda one: (one.client_address, one.correlation_id))


def agree(path: Path, exchanges: list[Exchange], seen: list[Seen]) -> None:
    """Check that the exchanges are the expected ones, with the last packets and times of their messages."""
    names = [
        (exchange.client_address, exchange.correlation_id, exchange.key, exchange.version)
        for exchange in exchanges
    ]
    assert names == [(one.client, one.correlation_id, one.key, one.version) for one in seen]
    for one, other in zip(exchanges, seen, strict=True):
        assert one.request_size == other.request_size
        assert one.request is not None
        assert one.request_packet in other.request_packets
        assert one.ts == NOW + (one.request_packet - 1) * MS
        assert (one.response_body is None) == (other.response is None)
        if other.response is not None:
            assert one.response_size == len(other.response)
            assert other.response[4:].endswith(one.response_body or b"")
            assert one.response is not None
            assert one.response_packet in other.response_packets
            assert one.latency_ms == one.response_packet - one.request_packet


def links(segments: list[TcpSegment], link: str, random: Random) -> list[tuple[str, bytes]]:
    """Each segment as a packet of this link, or of any ("all")."""
    names = [random.choice(list(LINKS)) if link == "all" else link for _ in segments]
    return [(name, wrapped(one, name, random)) for name, one in zip(names, segments, strict=True)]


@given(
    NETWORKS,
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from([0, 0, 3, 30]),
    st.sampled_from(["pcapng<", "pcapng>", *LINKS]),
)
def test_any_segmentation_order_repetition_and_overlap(
    tmp_path: Path, network: Network, count: int, six: bool, late: int, kind: str
) -> None:
    talks, segments, random = network.sent(count, six=six)
    segments = moved(segments, late, random)
    if kind in LINKS:
        packets = with_noise((data for _, data in links(segments, kind, random)), kind, random)
        path = as_pcap(tmp_path / "f", packets, kind, random.choice("<>"), random.choice((1, 1000)))
    else:
        path = as_pcapng(tmp_path / "f", links(segments, "all", random), kind[-1])
    seen = expected(path, talks)
    assert len(seen) == 9 * count
    agree(path, found(path), seen)


@given(
    NETWORKS,
    st.sampled_from([0, 20]),
    st.booleans(),
    st.sampled_from([bytes, bytes, gzip.compress, zstandard.ZstdCompressor().compress]),
    st.floats(0, 1),
)
def test_an_end_that_is_cut_off_takes_nothing_with_it(
    tmp_path: Path,
    network: Network,
    late: int,
    pcapng: bool,
    pack: Callable[[bytes], bytes],
    share: float,
) -> None:
    """At any byte; what is left is put into a whole file for the oracle."""
    talks, segments, random = network.sent(2)
    packets = links(moved(segments, late, random), "raw", random)

    def written(count: int) -> Path:
        if pcapng:
            return as_pcapng(tmp_path / "f", packets[:count])
        return as_pcap(tmp_path / "f", (data for _, data in packets[:count]), "raw", "<", 1)

    lengths = [written(count).stat().st_size for count in range(len(packets) + 1)]
    whole = written(len(packets)).read_bytes()
    end = lengths[0] + round((len(whole) - lengths[0]) * share)
    count = bisect.bisect_right(lengths, end) - 1
    seen = expected(written(count), talks)
    path = tmp_path / "cut"
    path.write_bytes(pack(whole[:end]))
    agree(path, found(path), seen)
    reader = CaptureReader(path)
    list(reader)
    assert reader.truncated == (lengths[count] != end)


@given(NETWORKS, st.floats(0, 1), st.sampled_from([0.0, 0.0, 0.05, 0.2]))
def test_what_is_missing_takes_nothing_with_it(
    tmp_path: Path, network: Network, begin: float, missing: float
) -> None:
    """A beginning, and packets in between."""
    network = network._replace(habits=Habits(chatter=network.habits.chatter))
    talks, segments, random = network.sent(2, rounds=4)
    kept = [one for one in segments[round(len(segments) * begin) :] if random.random() >= missing]
    path = as_pcapng(tmp_path / "f", links(kept, "all", random))
    agree(path, found(path), expected(path, talks))


def opening(segments: list[TcpSegment]) -> list[bool]:
    """Which of them are handshakes: the first three of each conversation."""
    counts: Counter[int] = Counter()
    found = []
    for segment in segments:
        port = max(segment.source[1], segment.target[1])
        counts[port] += 1
        found.append(counts[port] <= 3)
    return found


@given(NETWORKS, st.sampled_from([0, 3, -3, 20, -20, 5000, -5000]), st.booleans())
def test_captures_at_both_ends_give_each_exchange_once(
    tmp_path: Path, network: Network, skew_ms: int, missing: bool
) -> None:
    """The two captures have other links, and clocks that differ.

    If the clocks differ by little, each capture may lack packets of the other, except handshakes and resets.
    """
    network = network._replace(habits=Habits(repeat=0.1, chatter=0.2))
    talks, segments, random = network.sent(2)
    one, two = links(segments, "ethernet", random), links(segments, "vlan", random)
    if missing and abs(skew_ms) <= 20:
        gone = [random.choice((0, 0, 0, 1, 2)) for _ in segments]
        for at, first in enumerate(opening(segments)):
            if gone[at] and not first:
                side, link = (one, "ethernet") if gone[at] == 1 else (two, "vlan")
                side[at] = link, b""
    near = as_pcap(tmp_path / "near", [b""] * 20 + [data for _, data in one], "ethernet", "<", 1)
    far = as_pcapng(tmp_path / "far", two, skew_ms=20 + skew_ms)
    whole = as_pcapng(tmp_path / "f", links(segments, "raw", random))
    seen = [(x.client, x.correlation_id, x.response is not None) for x in expected(whole, talks)]
    for files in ((near, far), (far, near)):
        exchanges = found(*files)
        assert [
            (x.client_address, x.correlation_id, x.response_body is not None) for x in exchanges
        ] == seen
