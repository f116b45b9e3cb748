"""The arithmetic of the bench; nothing is timed here."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from barnabas.specs.frames import decode_frame
from bench import codecs, load, messages
from bench.contestants import differs
from bench.load import Result, frame, sized
from bench.proxies import Cell
from bench.table import percentile, ratio
from bench.targets import DECODING


def test_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(1, 101)]
    assert percentile(values, 50) == 50.0
    assert percentile(values, 99) == 99.0
    assert percentile([7.0], 99) == 7.0
    assert math.isnan(percentile([], 50))


def test_ratio_to_nothing_is_no_number() -> None:
    assert ratio(50.0, 200.0) == 0.25
    assert math.isnan(ratio(50.0, 0.0))
    assert math.isnan(ratio(50.0, math.nan))


def test_a_cell_shows_medians_and_cpu_of_all_rounds() -> None:
    cell = Cell()
    for seconds, cpu in ((1.0, 0.5), (2.0, 0.5), (4.0, 1.0)):
        cell.add(Result(seconds, 1_000_000_000, [0.1, 0.2, 0.3]), cpu)
    assert cell.figures() == {
        "bytes_per_second": 5e8,
        "p50_seconds": 0.2,
        "p99_seconds": 0.3,
        "cpu_seconds_per_gb": pytest.approx(2.0 / 3.0),
    }


def test_a_cell_without_cpu_time_says_so() -> None:
    cell = Cell()
    cell.add(Result(1.0, 1000, []), None)
    figures = cell.figures()
    assert figures["cpu_seconds_per_gb"] is None
    assert figures["p50_seconds"] is None


def test_frames_get_the_size_that_is_asked_for() -> None:
    def make(filling: int) -> bytes:
        return frame("request", 0, 9, 0, messages.produce(filling))

    assert len(make(sized(16384, make))) == 16384
    with pytest.raises(ValueError, match="no frame of 10 bytes"):
        sized(10, make)


def test_loads_are_frames_in_the_order_of_their_ids() -> None:
    made = load.produces(9, 300, 64, 3)
    assert (made.request_size, made.response_size) == (300, 64)
    for number in range(3):
        request = decode_frame(made.requests[number * 300 + 4 : (number + 1) * 300], "request")
        assert request.header["correlation_id"] == number
        assert request.body["acks"] == 1
        answer = made.responses[number * 64 + 4 : (number + 1) * 64]
        response = decode_frame(answer, "response", key=0, version=9)
        assert response.header["correlation_id"] == number


def test_the_scenario_of_the_bench_is_one(tmp_path: Path) -> None:
    from barnabas.proxy.scenario.file import load as load_scenario

    path = tmp_path / "decoding.yaml"
    path.write_text(DECODING)
    assert len(load_scenario(path).rules) == 1


def test_a_difference_is_named() -> None:
    mine = {"topics": [{"name": "a", "operations": -(2**31)}]}
    assert differs(mine, {"topics": ({"name": "a", "operations": None},)}) is None
    assert differs(mine, {"topics": ({"name": "b"},)}) == "topics[0].name is 'b', not 'a'"
    assert (
        differs(mine, {"topics": []})
        == "topics is [], not [{'name': 'a', 'operations': -2147483648}]"
    )


def test_a_codec_table_compares_with_ours() -> None:
    tasks = [
        codecs.Task("m", "barnabas", codecs.DECODE, lambda: None, [2e-6, 1e-6, 3e-6]),
        codecs.Task("m", "kio", codecs.DECODE, lambda: None, [4e-6]),
    ]
    shown = codecs.table(tasks, "")
    assert list(shown.columns[2].cells) == ["4.0 (2.00)"]
