from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.matching.field_paths import set_at
from barnabas.proxy.matching.message import Unable
from barnabas.specs import api

LAYOUT = api("Metadata").response.codec(10).layout
BEFORE = api("Metadata").response.codec(9).layout
"""Without topic ids."""


def metadata() -> dict[str, Any]:
    partitions = [{"partition_index": number, "error_code": 0} for number in range(2)]
    return {"topics": [{"name": "t", "topic_id": None, "partitions": partitions}]}


def test_a_value_is_set_at_every_place_of_a_path() -> None:
    values = metadata()
    set_at(values, LAYOUT, "topics[*].partitions[*].error_code", 5)
    assert [one["error_code"] for one in values["topics"][0]["partitions"]] == [5, 5]
    set_at(values, LAYOUT, "topics[0].partitions[-1].error_code", 6)
    assert [one["error_code"] for one in values["topics"][0]["partitions"]] == [5, 6]


@pytest.mark.parametrize(
    ("path", "layout", "why"),
    [
        ("topics[1].name", LAYOUT, "no such field in this message"),
        ("never", LAYOUT, "no such field in this message"),
        ("topics[0].topic_id", BEFORE, "no such field in this message"),
        ("topics[0].topic_id", LAYOUT, "'abcd' is no uuid"),
    ],
    ids=["no such element", "no such field", "not in this version", "another type"],
)
def test_what_can_not_be_set_is_said_and_nothing_changes(path: str, layout: Any, why: str) -> None:
    values = metadata()
    with pytest.raises(Unable) as problem:
        set_at(values, layout, path, "abcd")
    assert str(problem.value).startswith(f"{path}: {why}")
    assert values == metadata()
