"""Exchanges out of splits equal those of the pure reader, whatever the splits, order, files and ways."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.notes import INFERRED
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import ACK, PSH, SYN, TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.writing.writer import CaptureWriter
from tests.captures.network import Habits, as_pcap, conversations, interleaved, sent, wrapped
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    NOW,
    ip_packet,
    request,
    response,
    talk,
    write_pcap,
)
from tests.pipeline.generated import KINDS, generated
from tests.pipeline.samples import SAMPLES
from tests.pipeline.stages import in_memory, sequential
from tests.places import ROOT

FOREIGN = sorted((ROOT / "tests" / "captures" / "foreign").iterdir())
SAMPLES_BY_NAME = {path.name: path for path in SAMPLES}
STEADY = Habits()


@pytest.mark.parametrize("path", [*SAMPLES, *FOREIGN], ids=lambda path: path.name)
def test_the_exchanges_of_a_sample_are_the_pure_readers(path: Path) -> None:
    right = sequential([path])
    assert right
    for readers in (1, 2, 7):
        assert in_memory([path], readers).exchanges == right


def test_what_answers_requests_that_were_not_captured(tmp_path: Path) -> None:
    """One side of each connection is missing, up to its fifth packet with payload."""
    kept, sides = [], Counter[Any]()
    packets = CaptureReader(SAMPLES_BY_NAME["old-formats.pcap"]).numbered_packets()
    for _, _, (_, linktype, data, _, _) in packets:
        segment = Packets().tcp_segment(linktype, data)
        assert segment is not None
        asks = segment.source[1] > segment.target[1]
        sides[segment.source] += asks and bool(segment.payload)
        if not asks or sides[segment.source] > 5:
            kept.append(data)
    path = write_pcap(tmp_path / "f.pcap", kept, linktype)
    capture = open_capture(path)
    decoded = [one.row() for one in capture.learn(capture.exchanges(inferred=True))]
    result = in_memory([path])
    assert result.exchanges == sequential([path])
    assert any(one["note"] == INFERRED for one in result.exchanges)
    assert list(map(_gist, result.exchanges)) == list(map(_gist, decoded))
    brokers = zip(result.exchanges, decoded, strict=True)
    assert all(late["broker"] in (None, one["broker"]) for one, late in brokers)
    skipped = [one.details["bytes"] for one in result.said if one.details.get("kind") == "skipped"]
    assert sum(skipped) == capture.conversations.skipped


def _gist(row: dict[str, Any]) -> list[Any]:
    names = ("connection", "correlation_id", "api", "version", "latency_ms", "response_size")
    return [row[name] for name in names]


@pytest.mark.slow("a long property")
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    readers=st.integers(1, 5),
    six=st.booleans(),
)
def test_any_traffic_in_any_splits(
    tmp_path: Path, kind: str, seed: int, readers: int, six: bool
) -> None:
    path = generated(tmp_path / "f", kind, seed, six=six)
    result = in_memory([path], readers)
    assert result.exchanges == sequential([path])
    assert result.exchanges


@pytest.mark.slow("a long property")
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=3),
    seed=st.integers(0, 2**32),
    readers=st.integers(1, 5),
)
def test_files_of_the_same_time_are_merged_whatever_their_order(
    tmp_path: Path, kinds: list[str], seed: int, readers: int
) -> None:
    """The clocks of all begin at once, and packets are not in the order of their times."""
    paths = [
        generated(tmp_path / f"{number}", kind, seed + number) for number, kind in enumerate(kinds)
    ]
    right = sequential(paths)
    for order in (paths, paths[::-1]):
        assert in_memory(order, readers).exchanges == right


@pytest.mark.slow("a long property")
@given(seed=st.integers(0, 2**32), parts=st.integers(2, 4), readers=st.integers(1, 5))
def test_connections_that_span_files(tmp_path: Path, seed: int, parts: int, readers: int) -> None:
    """One capture in several files, as a sniffer that rotates them leaves it, in any order."""
    random = Random(seed)
    each = [sent(one, [90], random, STEADY) for one in conversations(3, seed % 2**32)]
    packets = [wrapped(one, "ethernet", random) for one in interleaved(each, random)]
    whole = sequential([as_pcap(tmp_path / "whole", packets, "ethernet", "<", 1)])
    stamps = (tmp_path / "whole").read_bytes()
    head, records, at = stamps[:24], [], 24
    for data in packets:
        records.append(stamps[at : at + 16 + len(data)])
        at += 16 + len(data)
    cuts = sorted(random.sample(range(1, len(records)), parts - 1))
    paths = []
    for number, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(records)], strict=True)):
        paths.append(tmp_path / f"{number}.pcap")
        paths[-1].write_bytes(head + b"".join(records[begin:end]))
    random.shuffle(paths)
    assert in_memory(paths, readers).exchanges == whole


def test_a_capture_of_ours_that_was_killed_and_resumed(tmp_path: Path) -> None:
    """MappedFiles of ours follow each other, and sections within one; the first one was cut off."""
    first, second = SAMPLES_BY_NAME["faults.pcapng"], SAMPLES_BY_NAME["embedded.pcapng"]
    one, other = tmp_path / "one.pcapng", tmp_path / "two.pcapng"
    one.write_bytes(first.read_bytes()[:-100])
    other.write_bytes(second.read_bytes() + first.read_bytes())
    right = sequential([one, other])
    assert max(row["connection"] for row in right) > 15
    for readers in (1, 2, 5):
        result = in_memory([other, one], readers)
        assert result.exchanges == right
    assert [fault["kind"] for fault in result.facts.faults] == ["truncated"]


def test_flows_of_ours_without_their_comments_are_counted_below_zero(tmp_path: Path) -> None:
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flows = [
            capture.open(number, (f"10.0.0.{number}", 50000), BROKER, NOW, {})
            for number in (1, 2, 3)
        ]
        for number, flow in enumerate(flows):
            for at, (direction, data) in enumerate(talk(first=number * 100 + 1)):
                flow.arrived(direction, data, NOW + number + at * 10)
    path.write_bytes(path.read_bytes().replace(b'"barnabas":"flow"', b'"barnabas":"fl0w"'))
    right = sequential([path])
    assert {row["connection"] for row in right} == {-1, -2, -3}
    assert in_memory([path], 3).exchanges == right


def test_fragments_meet_across_ranges(tmp_path: Path) -> None:
    def fragments(data: bytes, name: int) -> list[bytes]:
        head, body = bytearray(data[:20]), data[20:]
        results = []
        for at in range(0, len(body), 48):
            piece = body[at : at + 48]
            more = 0x2000 if at + 48 < len(body) else 0
            head[2:4] = (20 + len(piece)).to_bytes(2)
            head[4:6], head[6:8] = name.to_bytes(2), (more | at // 8).to_bytes(2)
            results.append(bytes(head) + piece)
        return results[::-1] if name % 2 else results

    random = Random(1)
    each = [sent(one, [150], random, STEADY) for one in conversations(2, 5)]
    packets = []
    for name, one in enumerate(interleaved(each, random)):
        data = ip_packet(one)
        packets += fragments(data, name) if len(data) > 70 else [data]
    path = as_pcap(tmp_path / "f", packets, "raw", "<", 1)
    right = sequential([path])
    assert len(right) == 18
    for readers in (1, 2, 3):
        assert in_memory([path], readers).exchanges == right


def test_gaps_are_counted_and_told(tmp_path: Path) -> None:
    random = Random(3)
    each = [sent(one, [60], random, STEADY) for one in conversations(3, 5, rounds=6)]
    kept = [one for one in interleaved(each, random) if not one.payload or random.random() > 0.1]
    path = as_pcap(tmp_path / "f", [ip_packet(one) for one in kept], "raw", "<", 1)
    right = sequential([path])
    assert max(row["losses"] for row in right) > 2
    for readers in (1, 3):
        result = in_memory([path], readers)
        assert result.exchanges == right
        gaps = [one for one in result.said if one.kind == "error" and one.details["kind"] == "gap"]
        assert len(gaps) == len(result.facts.losses) > 2
        assert all(one.details["bytes"] > 0 and one.details["direction"] for one in gaps)


def test_what_is_left_out_and_what_nobody_asked_for_is_said(tmp_path: Path) -> None:
    ssh = [
        TcpSegment(("10.1.1.1", 40000), ("10.1.1.2", 22), 1, 0, SYN, b""),
        TcpSegment(("10.1.1.1", 40000), ("10.1.1.2", 22), 2, 1, ACK | PSH, b"SSH-2.0-x\r\n" * 9),
    ]
    asked, answers = request(1, 18, 0), [response(number, 18, 0) for number in (1, 99)]
    kafka = [
        TcpSegment(CLIENT, BROKER, 0, 0, SYN, b""),
        TcpSegment(CLIENT, BROKER, 1, 1, ACK, asked),
        TcpSegment(BROKER, CLIENT, 1, 1 + len(asked), ACK, answers[0]),
        TcpSegment(BROKER, CLIENT, 1 + len(answers[0]), 1 + len(asked), ACK, answers[1]),
    ]
    path = as_pcap(tmp_path / "f", map(ip_packet, (*ssh, *kafka)), "raw", "<", 1)
    result = in_memory([path], 2)
    errors = [one.details for one in result.said if one.kind == "error"]
    reported = {said["kind"]: said["reason"] for said in (*errors, *result.facts.faults)}
    assert reported["left out"] == "1 conversation on port 22: unknown"
    assert "correlation id 99" in reported["unmatched"]


def test_columns_that_need_no_body_cost_none(tmp_path: Path) -> None:
    path = generated(tmp_path / "f", "raw", 1)
    columns = ("ts_ns", "api", "latency_ms", "connection")
    result = in_memory([path], 2, columns=columns)
    assert result.exchanges == [
        {name: row[name] for name in result.exchanges[0]} for row in sequential([path])
    ]
    assert set(result.exchanges[0]) == set(columns)
    assert not {one.kind for one in result.said} & {"topic", "producer", "broker"}
