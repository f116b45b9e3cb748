from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.proxy.matching.field_paths import set_at
from barnabas.proxy.matching.message import Unable
from barnabas.specs import api
from barnabas.specs.jsonform import uuid_text

LAYOUT = api("Metadata").response.codec(10).layout
BEFORE = api("Metadata").response.codec(9).layout
"""Without topic ids."""
CODE = "topics[*].partitions[*].error_code"


def metadata() -> dict[str, Any]:
    partitions = [{"partition_index": number, "error_code": 0} for number in range(2)]
    return {"topics": [{"name": "t", "topic_id": None, "partitions": partitions}]}


@pytest.mark.parametrize(("path", "value", "codes"), [
    (CODE, 5, [5, 5]),
    ("topics[0].partitions[-1].error_code", 6, [0, 6]),
    (CODE, "not_coordinator", [16, 16]),
    ("topics", [{"partitions": [{"error_code": "REBALANCE_IN_PROGRESS"}]}], [27]),
    ("topics[name=t].partitions[1].error_code", 6, [0, 6]),
    ("topics[name='t'].partitions[partition_index=1].error_code", 6, [0, 6]),
    ("topics[topic_id=null].partitions[partition_index=0].error_code", 6, [6, 0]),
])  # fmt: skip
def test_a_value_is_set_at_every_place_of_a_path(path: str, value: Any, codes: list[int]) -> None:
    values = metadata()
    set_at(values, LAYOUT, path, value, {})
    assert [partition["error_code"] for partition in values["topics"][0]["partitions"]] == codes


@pytest.mark.parametrize(("path", "layout", "why"), [
    ("topics[1].name", LAYOUT, "no such element in this message"),
    ("topics[name=u].name", LAYOUT, "no such element in this message"),
    ("topics[never=t].name", LAYOUT, "no such field in this message"),
    ("never", LAYOUT, "no such field in this message"),
    ("topics[0].topic_id", BEFORE, "no such field in this message"),
    ("topics[0].topic_id", LAYOUT, "'abcd' is not a uuid"),
    (CODE, LAYOUT, "unknown Kafka error code 'abcd'"),
])  # fmt: skip
def test_what_can_not_be_set_is_said_and_nothing_changes(path: str, layout: Any, why: str) -> None:
    values = metadata()
    with pytest.raises(Unable) as problem:
        set_at(values, layout, path, "abcd", {})
    assert str(problem.value).startswith(f"{path}: {why}")
    assert values == metadata()


def test_an_element_is_chosen_by_its_id() -> None:
    topic = uuid.UUID(int=1)
    values = {
        "topics": [{"name": "t", "topic_id": topic}, {"name": "u", "topic_id": uuid.UUID(int=2)}]
    }
    set_at(values, LAYOUT, f"topics[topic_id={uuid_text(topic)}].name", "new", {})
    assert [each["name"] for each in values["topics"]] == ["new", "u"]


def test_a_topic_is_chosen_by_name_where_a_version_has_only_its_id() -> None:
    old, new, other = (uuid.UUID(int=number) for number in (1, 2, 3))
    topics = {old: "orders", new: "orders", other: "other"}  # the topic was created again
    layout = api("Fetch").response.codec(13).layout
    path = "responses[topic=orders].partitions[0].error_code"

    def fetched(*ids: uuid.UUID) -> dict[str, Any]:
        return {
            "responses": [{"topic_id": topic, "partitions": [{"error_code": 0}]} for topic in ids]
        }

    values = fetched(old, other, new)
    set_at(values, layout, path, 6, topics)
    codes = [topic["partitions"][0]["error_code"] for topic in values["responses"]]
    assert codes == [6, 0, 6]
    for ids, unknown in (((other,), set()), ((other, uuid.UUID(int=4)), {uuid.UUID(int=4)})):
        with pytest.raises(Unable) as problem:
            set_at(fetched(*ids), layout, path, 6, topics)
        assert problem.value.ids == unknown
        assert ("topic ID" in str(problem.value)) == bool(unknown)
