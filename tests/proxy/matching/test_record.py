from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.expression import Unclear, expression
from barnabas.captures.values.value import Values
from barnabas.proxy.matching import record
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.record import any_holds, check
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.specs.records import Record, build
from tests.captures.values import golden_values as golden
from tests.proxy.faults.given import produce
from tests.proxy.faults.given import produced as produced_with
from tests.proxy.playbook import Stage

ORDERS = build(
    [
        Record(0, 5, b"k16", b'{"order_id": 16}'),
        Record(1, 6, b"k17", b'{"order_id": 17, "lines": [{"sku": "a"}]}', (("trace", b"1f"),)),
        Record(2, 7, None, None),
    ],
    compression="gzip",
)
AVRO = golden.VALUES["avro"].data


def produced(*sets: bytes | None, reading: Values | None = None) -> Message:
    made = produced_with(*sets)
    made.reading = reading or Values()
    return made


@pytest.mark.parametrize(("condition", "holds"), [
    ("value.order_id == 17", True),
    ("value.order_id == 18", False),
    ("value.order_id == 16 && key == 'k17'", False),  # of one and the same record
    ("value.lines[?sku=='a']", True),
    ("headers[?[0]=='trace' && [1]=='1f']", True),
    ("key == null && value == null", True),
    ("offset == 2 && timestamp == 7", True),
    ("kind.value == 'json'", True),
])  # fmt: skip
def test_one_of_the_records_has_to_meet_it(condition: str, holds: bool) -> None:
    assert any_holds(expression(condition), produced(None, ORDERS)) is holds


def test_a_value_by_a_schema_is_read_where_that_is_known() -> None:
    sets = build([Record(0, 1, None, AVRO)])
    condition = expression("value.total.cents < `0`")
    assert any_holds(condition, produced(sets, reading=Values(golden.lookup)))


def test_a_schema_that_is_not_known_yet_leaves_it_undecided() -> None:
    sets = build([Record(0, 1, None, AVRO), Record(1, 1, None, b'{"order_id": 17}')])
    waiting = produced(sets, reading=Values(lambda _: "not fetched yet"))
    assert any_holds(expression("value.order_id == 17"), waiting)
    with pytest.raises(Unclear, match=r"^schema 2: not fetched yet$"):
        any_holds(expression("value.order_id == 18"), waiting)


def test_bytes_that_nobody_reads_are_not_met_and_decided() -> None:
    sets = build([Record(0, 1, None, b"\xff\xfe")])
    assert not any_holds(expression("value.order_id == 17"), produced(sets))


def test_records_that_cannot_be_read_are_undecided() -> None:
    with pytest.raises(Unclear, match=r"^records: "):
        any_holds(expression("value"), produced(ORDERS[:16] + b"\x09" + ORDERS[17:]))


def test_many_records_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MOST", 1)
    assert any_holds(expression("value.order_id == 16"), produced(ORDERS))
    with pytest.raises(Unclear, match=r"^more than 1 records, or 4 MiB of them$"):
        any_holds(expression("value.order_id == 17"), produced(ORDERS))
    monkeypatch.setattr(record, "MOST", 10)
    monkeypatch.setattr(record, "BYTES", 125)
    with pytest.raises(Unclear, match="more than 10 records, or 0 MiB"):
        any_holds(expression("value.order_id == 18"), produced(ORDERS, ORDERS))


@pytest.mark.parametrize(("condition", "match", "problem"), [
    ("valeu.order_id == 17", {"api": "Produce"}, "records have no field 'valeu'; did you mean 'value'?"),
    ("value == 'a'", {"api": "Metadata"}, "no Metadata message has records"),
    ("value == 'a'", {"api": "Produce", "direction": "response"}, "no Produce response has records"),
])  # fmt: skip
def test_what_cannot_hold_is_said(condition: str, match: dict[str, Any], problem: str) -> None:
    assert check(expression(condition), Match.model_validate(match)) == [problem]


RULE = """
version: 1
rules:
- name: order 17
  match: {api: Produce, direction: request}
  record: value.order_id == 17
  do: {delay: 100ms}
"""


def test_a_rule_delays_the_request_with_that_record_alone() -> None:
    stage = Stage(RULE)
    actor = stage.actor()
    for number, order in enumerate((16, 17, 18)):
        records = build([Record(0, 1, None, b'{"order_id": %d}' % order)])
        actor.ask(produce(number, records=records))
    assert actor.ids("request") == [0]
    stage.wait(100)
    assert actor.ids("request") == [0, 1, 2]
    assert stage.rules.rule("order 17").fired == 1


def test_a_condition_on_records_that_no_message_has_is_refused() -> None:
    with pytest.raises(ScenarioError, match="record: no Metadata request has records"):
        loads(RULE.replace("api: Produce", "api: Metadata"))
