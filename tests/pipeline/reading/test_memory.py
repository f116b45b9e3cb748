"""Memory is bounded, however long a flow or a file is."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from barnabas.captures.kafka.context.memory import MOST, Memory
from barnabas.captures.kafka.pairing import conversation
from barnabas.captures.tcp.share import Share
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.pipeline.reading.share_outcomes import CaptureSettings, outcomes
from tests.captures.traffic import BROKER, CLIENT, NOW, Said, produce, request, response
from tests.pipeline.stages import NAMES


def traced(path: Path) -> tuple[int, Counter[str]]:
    """The most memory that reading a capture took, and how many outcomes there were of each kind."""
    columns = tuple(name for name in NAMES if name != "capture")
    found: Counter[str] = Counter()
    tracemalloc.start()
    for one in outcomes(CaptureSettings([path], columns), Share(0, 1)):
        found[one.kind] += 1
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
        assert found["topic"] == (count if answered else 0)
        return most

    assert peak(1200) < 1.5 * peak(400)
