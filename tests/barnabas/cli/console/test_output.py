"""Rows and lines as they are written."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.block_sink import Stats
from barnabas.captures.writing.writer import CaptureState
from barnabas.cli.console.output import Output
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.network.report import Report
from barnabas.proxy.rules.outcome import Outcome
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.jsonform import elided, to_json
from barnabas.specs.secrets import redact
from tests.bodies import reassignments
from tests.places import SAMPLES


def exchange() -> Exchange:
    return Exchange(0, 1, "a:1", "app", 1, 45, 0, 1, 10, request_body=reassignments())


def test_a_body_that_is_too_large_is_said_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    flagged: list[Exchange] = []
    output.flag = flagged.append
    output.exchange(exchange())
    output.json(exchange())
    line, row = capsys.readouterr().out.splitlines()
    assert "AlterPartitionReassignments v0" in line
    assert "(request too large to decode)" in line
    assert json.loads(row)["too_large"] == ["request"]
    assert (output.too_large, output.undecoded, flagged) == (2, 0, [])


def by_json(exchange: Exchange, output: Output) -> str:
    """The row of an exchange without anything that makes it fast."""
    row = exchange.row([name for name in exchange.row() if name not in BESIDE])
    for direction in DIRECTIONS:
        body = getattr(exchange, direction)
        row[direction] = (
            None if body is None else to_json(redact(exchange.key, direction, body), output.blob)
        )
    beside = {"sasl": exchange.sasl, "payload": exchange.payload}
    beside["too_large"] = list(exchange.too_large)
    beside["inside"] = inside(exchange, output.context, output.blob)
    beside["context"] = facts(exchange, output.context)
    row |= {name: value for name, value in beside.items() if value}
    return json.dumps(row, separators=(",", ":")).replace("\x7f", "\\u007f")


BESIDE = ("sasl", "payload", "too_large")


@pytest.mark.parametrize("name", sorted(path.name for path in SAMPLES.glob("*.pcap*")))
def test_rows_of_samples_are_what_json_would_write(name: str) -> None:
    output = Output()
    capture = open_capture(SAMPLES / name, context=output.context)
    for one in capture.learn(capture.exchanges(inferred=True)):
        assert output.row(one) == by_json(one, output)
        output.blob = elided if one.correlation_id % 2 else output.blob


class File(io.StringIO):
    """Counts how often it is flushed."""

    flushed = 0

    def flush(self) -> None:
        self.flushed += 1


def test_lines_leave_one_by_one_but_in_batches_together(monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = File(), Output()
    monkeypatch.setattr(sys, "stdout", file)
    for write in (output.exchange, output.json):
        file.flushed = 0
        write(exchange())
        write(exchange())
        assert file.flushed == 2
        with output.batches():
            write(exchange())
            write(exchange())
            assert file.flushed == 2
        assert file.flushed > 2
        assert output.at_once


def test_a_batch_leaves_whatever_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = File(), Output()
    monkeypatch.setattr(sys, "stdout", file)

    def interrupted() -> None:
        with output.batches():
            output.raw("row")
            assert not file.flushed
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.flushed


def test_a_line_that_a_program_waits_for_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    file, output = File(), Output(at_once=False)
    monkeypatch.setattr(sys, "stdout", file)
    flushed = []
    for write in (output.raw, output.ready):
        write("line")
        flushed.append(file.flushed > 0)
    assert flushed == [False, True]


def test_a_batch_of_a_file_that_is_full_says_so(tmp_path: Path) -> None:
    output = Output()
    with open("/dev/full", "w") as full, pytest.MonkeyPatch.context() as patch:  # noqa: PTH123
        patch.setattr(sys, "stdout", full)
        with pytest.raises(OSError, match="No space left"), output.batches():
            output.raw("row")
        with pytest.raises(OSError, match="No space left"):
            full.close()


def test_the_summary_says_what_passed_what_was_lost_and_where_the_capture_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = ApiStats()
    tally.note(3, 5_000_000)
    rule = Outcome("cut", ("close",), 3, 2, 0, 0, 0, 0, 1, 0, Counter(), Counter(dark=1))
    totals = Totals(connections=4, unreachable=1, undecoded=2, withheld=1, lost=3)
    capture = CaptureState("c.pcapng", Stats(packets=5, bytes=6, lost_packets=1, lost_bytes=7))
    report = Report(tally, totals, rules=(rule,), capture=capture)
    Output().summary(report, ["1 exchange not shown: --filter"], 5)
    lines = capsys.readouterr().err.splitlines()
    assert any(line.split()[:2] == ["Metadata", "1"] for line in lines)
    assert any(line.split()[:4] == ["cut", "3", "2", "1"] for line in lines)
    assert lines[-2:] == [
        "4 connections, 1 closed because the broker could not be reached, 3 lost with workers "
        "that ended (their last second may be missing from these tables and the capture), "
        "7 frames undecodable, forwarded unchanged, 1 response withheld, with the connection closed, "
        "1 exchange not shown: --filter",
        "capture: c.pcapng, 5 packets, 6 bytes; lost 1 packet with 7 bytes",
    ]
