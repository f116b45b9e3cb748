from __future__ import annotations

import json
import math
from typing import Any

from barnabas.captures.writing.masking import Masking
from barnabas.proxy.control import message_body
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.message_body import RECORDS, SHOWN, shown
from barnabas.specs.json_text import number
from barnabas.specs.records import Record, build
from tests.proxy.faults.given import produce, stage

PATH = "topic_data[0].partition_data[0].records"


def of(records: bytes) -> dict[str, Any]:
    actor = stage("breakpoint", "{api: Produce}")
    actor.ask(produce(1, 1, records))
    return shown(actor.connection.breakpoints.message("1.1"), Masking())


def test_fields_have_their_types_and_records_their_texts() -> None:
    headers = (("trace", b"1\xff"), ("none", None))
    records = [Record(0, 5, None, "ä".encode()), Record(1, 5, b"k", b"\xff", headers)]
    found = of(build(records))
    partition = "topic_data[].partition_data[]."
    assert found["types"] == {
        "transactional_id": "string", "acks": "int16", "timeout_ms": "int32", "topic_data[].name": "string",
        f"{partition}index": "int32", f"{partition}records": "records",
    }  # fmt: skip
    assert found["records"] == {PATH: [
        {"offset": 0, "timestamp": 5, "key": None, "value": "ä", "base64": False, "headers": []},
        {"offset": 1, "timestamp": 5, "key": "aw==", "value": "/w==", "base64": True,
         "headers": [["trace", "Mf8="], ["none", None]]},
    ]}  # fmt: skip


def test_records_are_shown_as_far_as_they_go() -> None:
    many = build([Record(n, 5, None, b"x") for n in range(RECORDS + 1)])
    assert len(of(many)["records"][PATH]) == RECORDS
    large = build([Record(n, 5, None, b"x" * (SHOWN // 2)) for n in range(5)], compression="gzip")
    assert len(of(large)["records"][PATH]) == 2
    bomb = build([Record(0, 5, None, bytes(message_body.MAX_OUTPUT))], compression="gzip")
    assert len(of(bomb)["records"][PATH]) == 0
    assert of(many[:70] + b"\xff" * 9)["records"] == {PATH: []}


def test_an_answer_is_json_though_a_body_has_numbers_that_json_lacks() -> None:
    odd = [number(value) for value in (math.nan, math.inf, -math.inf, 0.5)]
    answer = bytes(json_response({"NaN": "Infinity", "values": odd}).body)
    assert json.loads(answer) == {
        "NaN": "Infinity",
        "values": ["NaN", "Infinity", "-Infinity", 0.5],
    }
