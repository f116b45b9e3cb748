"""Exchanges out of splits equal those of the pure reader, whatever the splits, order, files and ways."""

from __future__ import annotations

import json
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context.memory import MOST, Memory
from barnabas.captures.kafka.notes import INFERRED
from barnabas.captures.kafka.pairing import conversation
from barnabas.captures.tcp.headers import ACK, PSH, SYN, TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.tls.keylog import KeyLog
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.pipeline.reading import mapped_files
from barnabas.pipeline.reading import tcp_segments as segments_module
from barnabas.pipeline.reading.flows import Reading, outcomes
from barnabas.pipeline.reading.mapped_files import MappedFiles
from barnabas.pipeline.reading.runs import unpack
from barnabas.pipeline.reading.tcp_segments import segments
from tests.captures.network import Habits, as_pcap, conversations, interleaved, sent, wrapped
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    NOW,
    Said,
    ip_packet,
    produce,
    request,
    response,
    talk,
)
from tests.pipeline.generated import KINDS, generated
from tests.pipeline.reading.test_planning import SAMPLES
from tests.pipeline.stages import NAMES, in_memory, planned, sequential
from tests.places import ROOT

FOREIGN = sorted((ROOT / "tests" / "captures" / "foreign").iterdir())
SAMPLES_BY_NAME = {path.name: path for path in SAMPLES}
STEADY = Habits()


def shuffled(seed: int) -> Callable[[list[Any]], list[Any]]:
    def order(found: list[Any]) -> list[Any]:
        return Random(seed).sample(found, len(found))

    return order


def errors(found: Any) -> list[tuple[str, str]]:
    return [(one.said["kind"], one.said["reason"]) for one in found.said if one.kind == "error"]


@pytest.mark.parametrize("path", [*SAMPLES, *FOREIGN], ids=lambda path: path.name)
def test_the_exchanges_of_a_sample_are_the_pure_readers(path: Path) -> None:
    right = sequential([path])
    assert right
    for size, carry in ((200, False), (1500, True), (1 << 26, False)):
        assert in_memory([path], size, carry=carry, order=shuffled(size)).exchanges == right


def test_what_answers_requests_that_were_not_captured(tmp_path: Path) -> None:
    """One side of each connection is missing, up to its fifth packet with payload."""
    path = tmp_path / "f.pcap"
    data = SAMPLES_BY_NAME["old-formats.pcap"].read_bytes()
    linktype = int.from_bytes(data[20:24], "little")
    kept, at, sides = [data[:24]], 24, Counter[Any]()
    while at < len(data):
        end = at + 16 + int.from_bytes(data[at + 8 : at + 12], "little")
        segment = Packets().tcp_segment(linktype, data[at + 16 : end])
        assert segment is not None
        asks = segment.source[1] > segment.target[1]
        sides[segment.source] += asks and bool(segment.payload)
        if not asks or sides[segment.source] > 5:
            kept.append(data[at:end])
        at = end
    path.write_bytes(b"".join(kept))
    capture = open_capture(path)
    decoded = [one.row() for one in capture.learn(capture.exchanges(inferred=True))]
    found = in_memory([path])
    assert found.exchanges == sequential([path])
    assert any(one["note"] == INFERRED for one in found.exchanges)
    assert list(map(_gist, found.exchanges)) == list(map(_gist, decoded))
    brokers = zip(found.exchanges, decoded, strict=True)
    assert all(late["broker"] in (None, one["broker"]) for one, late in brokers)
    skipped = [one.said["bytes"] for one in found.said if one.said.get("kind") == "skipped"]
    assert sum(skipped) == capture.conversations.skipped


def _gist(row: dict[str, Any]) -> list[Any]:
    names = ("connection", "correlation_id", "api", "version", "latency_ms", "response_size")
    return [row[name] for name in names]


@pytest.mark.slow("a long property")
@given(
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**32),
    size=st.integers(200, 20_000),
    carry=st.booleans(),
    six=st.booleans(),
)
def test_any_traffic_in_any_splits(
    tmp_path: Path, kind: str, seed: int, size: int, carry: bool, six: bool
) -> None:
    path = generated(tmp_path / "f", kind, seed, six=six)
    found = in_memory([path], size, carry=carry, order=shuffled(seed))
    assert found.exchanges == sequential([path])
    assert found.exchanges


@pytest.mark.slow("a long property")
@given(
    kinds=st.lists(st.sampled_from(KINDS), min_size=2, max_size=3),
    seed=st.integers(0, 2**32),
    size=st.integers(300, 20_000),
)
def test_files_of_the_same_time_are_merged_whatever_their_order(
    tmp_path: Path, kinds: list[str], seed: int, size: int
) -> None:
    """The clocks of all begin at once, and packets are not in the order of their times."""
    paths = [
        generated(tmp_path / f"{number}", kind, seed + number) for number, kind in enumerate(kinds)
    ]
    right = sequential(paths)
    for order in (paths, paths[::-1]):
        assert in_memory(order, size, order=shuffled(seed)).exchanges == right


@pytest.mark.slow("a long property")
@given(seed=st.integers(0, 2**32), parts=st.integers(2, 4), size=st.integers(200, 9000))
def test_connections_that_span_files(tmp_path: Path, seed: int, parts: int, size: int) -> None:
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
    assert in_memory(paths, size, order=shuffled(seed)).exchanges == whole


def test_a_capture_of_ours_that_was_killed_and_resumed(tmp_path: Path) -> None:
    """MappedFiles of ours follow each other, and sections within one; the first one was cut off."""
    first, second = SAMPLES_BY_NAME["faults.pcapng"], SAMPLES_BY_NAME["embedded.pcapng"]
    one, other = tmp_path / "one.pcapng", tmp_path / "two.pcapng"
    one.write_bytes(first.read_bytes()[:-100])
    other.write_bytes(second.read_bytes() + first.read_bytes())
    right = sequential([one, other])
    assert max(row["connection"] for row in right) > 15
    for size in (300, 4000, 1 << 26):
        found = in_memory([other, one], size, order=shuffled(size))
        assert found.exchanges == right
    assert [fault.kind for _, fault in found.plan.faults] == ["truncated"]


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
    assert in_memory([path], 300).exchanges == right


def test_fragments_meet_across_ranges(tmp_path: Path) -> None:
    def fragments(data: bytes, name: int) -> list[bytes]:
        head, body = bytearray(data[:20]), data[20:]
        found = []
        for at in range(0, len(body), 48):
            piece = body[at : at + 48]
            more = 0x2000 if at + 48 < len(body) else 0
            head[2:4] = (20 + len(piece)).to_bytes(2)
            head[4:6], head[6:8] = name.to_bytes(2), (more | at // 8).to_bytes(2)
            found.append(bytes(head) + piece)
        return found[::-1] if name % 2 else found

    random = Random(1)
    each = [sent(one, [150], random, STEADY) for one in conversations(2, 5)]
    packets = []
    for name, one in enumerate(interleaved(each, random)):
        data = ip_packet(one)
        packets += fragments(data, name) if len(data) > 70 else [data]
    path = as_pcap(tmp_path / "f", packets, "raw", "<", 1)
    right = sequential([path])
    assert len(right) == 18
    for size in (100, 700, 1 << 26):
        assert in_memory([path], size, order=shuffled(size)).exchanges == right


def test_gaps_are_counted_and_told(tmp_path: Path) -> None:
    random = Random(3)
    each = [sent(one, [60], random, STEADY) for one in conversations(3, 5, rounds=6)]
    kept = [one for one in interleaved(each, random) if not one.payload or random.random() > 0.1]
    path = as_pcap(tmp_path / "f", [ip_packet(one) for one in kept], "raw", "<", 1)
    right = sequential([path])
    assert max(row["losses"] for row in right) > 2
    for size in (300, 1 << 26):
        found = in_memory([path], size)
        assert found.exchanges == right
        gaps = [one for one in found.said if one.kind == "error" and one.said["kind"] == "gap"]
        assert len(gaps) == len(found.facts.losses) > 2
        assert all(one.said["bytes"] > 0 and one.said["direction"] for one in gaps)


def test_what_is_left_out_and_what_nobody_asked_for_is_said(tmp_path: Path) -> None:
    ssh = [
        TcpSegment(("10.1.1.1", 40000), ("10.1.1.2", 22), 1, 0, SYN, b""),
        TcpSegment(("10.1.1.1", 40000), ("10.1.1.2", 22), 2, 1, ACK | PSH, b"SSH-2.0-x\r\n" * 9),
    ]
    said = [
        ("request", request(1, 18, 0)),
        ("response", response(1, 18, 0)),
        ("response", response(99, 18, 0)),
    ]
    seqs = {"request": 1, "response": 1}
    found = [TcpSegment(CLIENT, BROKER, 0, 0, SYN, b"")]
    for direction, data in said:
        ends = (CLIENT, BROKER) if direction == "request" else (BROKER, CLIENT)
        other = "response" if direction == "request" else "request"
        found.append(TcpSegment(*ends, seqs[direction], seqs[other], ACK, data))
        seqs[direction] += len(data)
    packets = [ip_packet(one) for one in (*ssh, *found)]
    path = as_pcap(tmp_path / "f", packets, "raw", "<", 1)
    told = dict(errors(in_memory([path], 200)))
    assert told["left out"] == "1 conversation on port 22: unknown"
    assert "correlation id 99" in told["unmatched"]


def test_columns_that_need_no_body_cost_none(tmp_path: Path) -> None:
    path = generated(tmp_path / "f", "raw", 1)
    columns = ("ts_ns", "api", "latency_ms", "connection")
    found = in_memory([path], 900, columns=columns)
    assert found.exchanges == [
        {name: row[name] for name in found.exchanges[0]} for row in sequential([path])
    ]
    assert set(found.exchanges[0]) == set(columns)
    assert not {one.kind for one in found.said} & {"topic", "producer", "broker"}


def test_one_long_flow_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """Its rows are read one after the other, and what they point at is not kept."""

    def peak(count: int) -> int:
        said: list[Said] = [
            each
            for number in range(count)
            for each in (
                ("request", produce(number, bytes(100_000))),
                ("response", response(number, 0, 7)),
            )
        ]
        path = tmp_path / f"{count}.pcapng"
        with CaptureWriter(path, limit=None, meta={}) as capture:
            flow = capture.open(1, CLIENT, BROKER, NOW, {})
            for at, (direction, data) in enumerate(said):
                flow.arrived(direction, data, NOW + at)
        made = planned([path], 1 << 20)
        rows = [
            unpack(one["section_group"], one["ends"], one["path"], one["data"], one["segments"])
            for piece in made.pieces
            for batch in segments(piece, made.links, carry=False)
            for one in batch.to_pylist()
        ]
        columns = tuple(name for name in NAMES if name != "capture")
        reading = Reading(columns, made.section_groups, made.packets)
        del said
        tracemalloc.start()
        found = sum(
            one.kind == "exchange" for one in outcomes(rows, reading, KeyLog(), MappedFiles())
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found == count
        return most

    short, long = peak(20), peak(200)
    assert long < short * 1.5
    assert long < 4_000_000


@pytest.mark.slow("bytes by the million")
@pytest.mark.parametrize("answered", [False, True])
def test_one_hostile_flow_is_read_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    """Requests that nobody answers, each with names of 30 KB that nobody has heard before; and a connection
    between the same ends for each few of them."""
    most = 1 << 20
    monkeypatch.setattr(Memory.__init__, "__defaults__", (MOST, most))
    monkeypatch.setattr(conversation, "WAITING", most)

    def peak(count: int) -> int:
        path = tmp_path / f"{count}-{answered}.pcapng"
        with CaptureWriter(path, limit=None, meta={}) as capture:
            for number in range(count):
                if number % (10 if answered else count) == 0:
                    flow = capture.open(number + 1, CLIENT, BROKER, NOW, {})
                name = f"{number}" + "x" * 30_000
                about = {"client_software_name": name, "client_software_version": "1"}
                said: list[Said] = [
                    ("request", request(2 * number, 18, 3, **about)),
                    ("request", request(2 * number + 1, 3, 1, topics=[{"name": name}])),
                ]
                if answered:
                    topic = {"name": name, "topic_id": UUID(int=number + 1), "partitions": []}
                    said = [
                        said[0],
                        ("response", response(2 * number, 18, 3)),
                        ("request", request(2 * number + 1, 3, 12, topics=None)),
                        ("response", response(2 * number + 1, 3, 12, topics=[topic])),
                    ]
                for direction, data in said:
                    flow.arrived(direction, data, NOW + number)
                if answered and number % 10 == 9:
                    flow.close(NOW + number)
        made = planned([path], 1 << 20)
        rows = [
            (one["flow"], one["first"], unpack(*(one[name] for name in _ROW)))
            for piece in made.pieces
            for batch in segments(piece, made.links, carry=False)
            for one in batch.to_pylist()
        ]
        rows.sort(key=lambda one: one[:2])
        columns = tuple(name for name in NAMES if name != "capture")
        reading = Reading(columns, made.section_groups, made.packets)
        tracemalloc.start()
        found: Counter[str] = Counter()
        for one in outcomes((row for *_, row in rows), reading, KeyLog(), MappedFiles()):
            found[one.kind] += 1
            if one.said is not None and one.kind == "error":
                found[one.said["kind"]] += 1
        _, top = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found["exchange"] == 2 * count
        assert (found["forgotten"] == 1) == answered
        return top

    assert peak(1200) < 1.5 * peak(400)


_ROW = ("section_group", "ends", "path", "data", "segments")


def test_rows_that_bring_payload_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments_module, "CARRIED", 50_000)
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, CLIENT, BROKER, NOW, {})
        for number in range(40):
            flow.arrived("request", produce(number, bytes(10_000)), NOW + number)
    made = planned([path], 1 << 26)
    rows = [
        row
        for piece in made.pieces
        for batch in segments(piece, made.links, carry=True)
        for row in batch.to_pylist()
    ]
    assert len(rows) > 7
    assert max(len(row["data"] or b"") for row in rows) < 70_000
    assert in_memory([path], carry=True).exchanges == sequential([path])


def test_what_is_said_is_json(tmp_path: Path) -> None:
    for path in SAMPLES:
        for one in in_memory([path]).said:
            json.dumps(one.said)


@pytest.mark.slow("bytes by the million")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_pages_that_were_passed_do_not_stay_in_memory(tmp_path: Path) -> None:
    size = 3 * mapped_files.KEPT
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(size)

    def resident() -> int:
        """KiB of this process's memory that are the file's."""
        lines = iter(Path("/proc/self/smaps").read_text().splitlines())
        return sum(
            next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))
            for line in lines
            if line.endswith(str(path))
        )

    files = MappedFiles()
    data = files[str(path)]
    most = 0
    for at in range(0, size, 4 << 20):
        assert not any(data[at : at + (4 << 20)])
        most = max(most, resident())
        files.passed(str(path), at)
    assert (mapped_files.KEPT >> 10) * 0.9 < most < (mapped_files.KEPT >> 10) * 1.3
    files.passed(str(path), 0)  # another flow, from the beginning on
    assert resident() == 0
