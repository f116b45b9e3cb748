"""`respond` with `only` on reads, and on requests that stand for all."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.matching.message import Unable
from tests.proxy.faults.entries import (
    ORDERS_1,
    TOPIC,
    codes,
    staged,
    told,
)
from tests.proxy.faults.given import message
from tests.proxy.frames import request


def metadata(*names: str, by_id: bool = False) -> dict[str, Any]:
    partitions = [{"partition_index": index, "leader_id": 1, "leader_epoch": 4} for index in (0, 1)]
    return {
        "topics": [{"name": name, "topic_id": TOPIC, "partitions": partitions} for name in names]
    }


@pytest.mark.parametrize("asked", [[{"name": "orders"}, {"name": "clicks"}], None])
@pytest.mark.parametrize("version", [0, 1, 9])
def test_a_read_reaches_the_broker_whole_and_its_answer_is_changed(
    version: int, asked: Any
) -> None:
    body = {"topics": [] if asked is None and version == 0 else asked}
    result = metadata("orders", "clicks")
    broker, client = told(f"{{error: 5, only: {ORDERS_1}}}", "Metadata", version, body, result)
    assert broker is not None
    assert broker["topics"] == (
        body["topics"] and [{"name": each["name"]} for each in body["topics"]]
    )
    assert codes(client) == {
        "/orders": 0, "/orders/0": 0, "/orders/1": 5, "/clicks": 0, "/clicks/0": 0, "/clicks/1": 0
    }  # fmt: skip
    leaders = [each["leader_id"] for each in client["topics"][0]["partitions"]]  # type: ignore[index]
    assert leaders == [1, -1]


def test_a_whole_topic_of_metadata_is_refused_on_its_own_level() -> None:
    body: dict[str, Any] = {"topics": None}
    _, client = told(
        "{error: 29, only: {topic: orders}}", "Metadata", 9, body, metadata("orders", "a")
    )
    assert codes(client) == {"/orders": 29, "/a": 0, "/a/0": 0, "/a/1": 0}


def test_null_of_offset_fetch_means_all() -> None:
    body: dict[str, Any] = {
        "groups": [{"group_id": "g", "topics": None}, {"group_id": "h", "topics": None}]
    }
    entries = [{"partition_index": 1, "committed_offset": 4}]
    result = {"groups": [{"group_id": name, "topics": [{"name": "orders", "partitions": entries}]}
                         for name in "gh"]}  # fmt: skip
    only = "{group: h, topic: orders, partition: 1}"
    broker, client = told(f"{{error: 88, only: {only}}}", "OffsetFetch", 8, body, result)
    assert broker is not None
    assert [group["topics"] for group in broker["groups"]] == [None, None]
    assert codes(client) == {"/g": 0, "/g/orders/1": 0, "/h": 0, "/h/orders/1": 88}
    offsets = [g["topics"][0]["partitions"][0]["committed_offset"] for g in client["groups"]]  # type: ignore[index]
    assert offsets == [4, -1]


def test_null_of_a_write_stands_for_all_and_cannot_be_divided() -> None:
    subject = message("ElectLeaders", version=2, topic_partitions=None)
    config = Respond.model_validate({"error": 80, "only": {"topic": "a"}})
    with pytest.raises(Unable, match="only topic a: an array of the request stands for all"):
        respond(config, subject, float)


def test_coordinators_of_one_group_are_refused() -> None:
    body = {"key_type": 0, "coordinator_keys": ["g", "h"]}
    found = {"coordinators": [{"key": key, "node_id": 1, "host": "b", "port": 9} for key in "gh"]}
    do = "{error: COORDINATOR_NOT_AVAILABLE, only: {group: h}}"
    broker, client = told(do, "FindCoordinator", 4, body, found)
    assert broker is not None
    assert broker["coordinator_keys"] == ["g", "h"]
    assert codes(client) == {"/g": 0, "/h": 15}
    other, _ = told(do, "FindCoordinator", 4, {"key_type": 1, "coordinator_keys": ["h"]})
    assert other is not None  # a transactional id of that name


def test_an_empty_array_of_metadata_stands_for_no_topic_but_in_v0() -> None:
    do = f"{{error: 5, only: {ORDERS_1}}}"
    for version, count in ((0, 1), (1, 0), (9, 0)):
        actor = staged(do, "Metadata")
        actor.ask(request("Metadata", 1, version=version, topics=[]))
        assert actor.stage.rules.rule("r").fired == count


@pytest.mark.parametrize(("name", "version", "only", "body"), [
    ("FindCoordinator", 2, "{group: a}", {"key": "a", "key_type": 1}),
    ("InitProducerId", 4, "{transactional_id: '*'}", {"transactional_id": None}),
    ("ListOffsets", 5, "{topic: a}", {"topics": []}),
    ("DescribeConfigs", 2, "{config: b}",
     {"resources": [{"resource_type": 2, "resource_name": "t", "configuration_keys": ["a"]}]}),
])  # fmt: skip
@pytest.mark.parametrize("after", ["", ", after: true"])
def test_requests_that_cannot_have_the_entry_do_not_match(
    name: str, version: int, only: str, body: dict[str, Any], after: str
) -> None:
    actor = staged(f"{{error: 7, only: {only}{after}}}", name)
    actor.ask(request(name, 1, version=version, **body))
    assert actor.stage.rules.rule("r").fired == 0
    assert actor.ids("request") == [1]
