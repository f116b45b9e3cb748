"""Memory is bounded, however long a flow or a file is."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from barnabas.captures.kafka.context.memory import MOST, Memory
from barnabas.captures.kafka.pairing import conversation
from barnabas.captures.tls.keylog import KeyLog
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.pipeline.reading import file_bytes
from barnabas.pipeline.reading import tcp_segments as segments_module
from barnabas.pipeline.reading.file_bytes import MappedFiles
from barnabas.pipeline.reading.flows import FlowSettings, outcomes
from barnabas.pipeline.reading.runs import unpack
from barnabas.pipeline.reading.tcp_segments import segments
from tests.captures.traffic import BROKER, CLIENT, NOW, Said, produce, request, response
from tests.pipeline.stages import NAMES, in_memory, planned, sequential


def traced(path: Path) -> tuple[int, Counter[str]]:
    """The most memory that reading its flows took, and how many outcomes there were of each kind."""
    made = planned([path], 1 << 20)
    fields = ("flow", "first", "section_group", "ends", "path", "data", "segments")
    rows = [
        tuple(one[name] for name in fields)
        for piece in made.pieces
        for batch in segments(piece, made.links, carry=False)
        for one in batch.to_pylist()
    ]
    runs = [unpack(*of) for _, _, *of in sorted(rows, key=lambda row: row[:2])]
    columns = tuple(name for name in NAMES if name != "capture")
    reading = FlowSettings(columns, made.section_groups, made.packets)
    found: Counter[str] = Counter()
    tracemalloc.start()
    for one in outcomes(runs, reading, KeyLog(), MappedFiles()):
        found[
            one.details["kind"] if one.details is not None and one.kind == "error" else one.kind
        ] += 1
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most, found


def test_one_long_flow_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    """Its rows are read one after the other, and what they point at is not kept."""

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.pcapng"
        with CaptureWriter(path, limit=None, meta={}) as capture:
            flow = capture.open(1, CLIENT, BROKER, NOW, {})
            for number in range(count):
                flow.arrived("request", produce(number, bytes(100_000)), NOW + 2 * number)
                flow.arrived("response", response(number, 0, 7), NOW + 2 * number + 1)
        most, found = traced(path)
        assert found["exchange"] == count
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
    monkeypatch.setattr(Memory.__init__, "__defaults__", (MOST, 1 << 20))
    monkeypatch.setattr(conversation, "WAITING", 1 << 20)

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
        most, found = traced(path)
        assert found["exchange"] == 2 * count
        assert (found["forgotten"] == 1) == answered
        return most

    assert peak(1200) < 1.5 * peak(400)


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


@pytest.mark.slow("bytes by the million")
@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_pages_that_were_passed_do_not_stay_in_memory(tmp_path: Path) -> None:
    size = 3 * file_bytes.RETAINED
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
    assert (file_bytes.RETAINED >> 10) * 0.9 < most < (file_bytes.RETAINED >> 10) * 1.3
    files.passed(str(path), 0)  # another flow, from the beginning on
    assert resident() == 0
