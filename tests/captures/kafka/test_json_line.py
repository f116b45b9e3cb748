"""Test that a line of JSON is what `decode --json` prints, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.facts import facts
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.json_line import json_line
from barnabas.captures.values.value import Values
from barnabas.specs.frames import DIRECTIONS
from barnabas.specs.jsonform import to_json
from barnabas.specs.records import Record, build
from barnabas.specs.secrets import redact
from tests.captures.kafka.context.exchanges import exchange, golden
from tests.places import SAMPLES


def slowly(exchange: Exchange, context: Context) -> str:
    """Make the line with `to_json` and the module json."""
    row = exchange.row()
    for direction in DIRECTIONS:
        values = exchange.known(direction)
        row[direction] = values and to_json(redact(exchange.key, direction, values))
    found = {"inside": inside(exchange, context), "context": facts(exchange, context)}
    row |= {name: value for name, value in found.items() if value}
    return json.dumps(row, separators=(",", ":")).replace("\x7f", "\\u007f")


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.pcap*")), ids=lambda path: path.name)
def test_lines_of_samples_are_those_that_to_json_and_json_make(path: Path) -> None:
    capture = open_capture(path)
    for one in capture.learn(capture.exchanges(inferred=True)):
        assert json_line(one, capture.context) == slowly(one, capture.context)


def test_lines_of_golden_frames_are_those_that_to_json_and_json_make() -> None:
    context, tagged, count = Context(), 0, 0
    for _, one in golden():
        line = json_line(one, context)
        assert line == slowly(one, context)
        tagged += '"_tags":' in line
        count += 1
    assert count > 7000
    assert tagged > 400


def test_records_are_decoded_if_it_is_asked_for() -> None:
    records = build([Record(0, 1, b"k", b'{"a":1}')])
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": records}]}]
    produced = exchange("Produce", 9, {"topic_data": topics})
    ((where, decoded_row),) = json.loads(json_line(produced, Context(), values=Values()))[
        "records"
    ]["request"].items()
    assert where == "topic_data[0].partition_data[0].records"
    assert '"a": 1' in json.dumps(decoded_row)
    assert "records" not in json.loads(json_line(produced, Context()))
