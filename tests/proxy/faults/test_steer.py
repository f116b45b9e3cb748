from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from barnabas.proxy.effects import Become
from barnabas.proxy.faults.steer import Steer, steer
from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs import api
from tests.proxy.faults.given import Examples, Row, message

EXAMPLES = Examples(
    {"leader": 2},
    rows=[Row("{leader: 2, coordinator: 2}")],
    subject=message(
        "Metadata", "response", 1, topics=[{"name": "t", "partitions": [{"leader_id": 1}]}]
    ),
    about=("Metadata", "response"),
)

TOPICS = [
    {"name": name, "partitions": [{"partition_index": n, "leader_id": 1} for n in range(2)]}
    for name in ("orders", "clicks")
]


def steered(settings: dict[str, Any], subject: Message) -> dict[str, Any]:
    subject.listener = {2: ("proxy", 10_002)}.get
    (effect,) = steer(Steer.model_validate(settings), subject, float)
    assert isinstance(effect, Become)
    found = api(subject.key).response.codec(subject.version)
    return found.decode(effect.body)


@pytest.mark.parametrize("setting", [{"topic": "a"}, {"partitions": [1]}])
def test_what_is_about_leaders_is_refused_without_one(setting: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="give leader"):
        Steer.model_validate({"coordinator": 1, **setting})


@pytest.mark.parametrize("version", [0, 1, 9, 12])
def test_metadata_names_another_leader(version: int) -> None:
    subject = message("Metadata", "response", version, topics=TOPICS)
    found = steered({"leader": 2, "topic": "ord*", "partitions": [1]}, subject)
    leaders = [[p["leader_id"] for p in topic["partitions"]] for topic in found["topics"]]
    assert leaders == [[1, 2], [1, 1]]


def test_there_may_be_no_leader() -> None:
    found = steered({"leader": -1}, message("Metadata", "response", 9, topics=TOPICS))
    partition = found["topics"][0]["partitions"][0]
    assert (partition["leader_id"], partition["error_code"]) == (-1, 5)


@pytest.mark.parametrize("version", [0, 3])
def test_find_coordinator_names_another_one(version: int) -> None:
    subject = message("FindCoordinator", "response", version, node_id=1, host="a", port=1)
    found = steered({"coordinator": 2}, subject)
    assert (found["node_id"], found["host"], found["port"]) == (2, "proxy", 10_002)


def test_find_coordinator_for_several_groups() -> None:
    entries = [{"key": "g", "node_id": 1, "host": "a", "port": 1}]
    subject = message("FindCoordinator", "response", 4, coordinators=entries)
    (found,) = steered({"coordinator": 2}, subject)["coordinators"]
    assert (found["key"], found["node_id"], found["host"]) == ("g", 2, "proxy")


def test_what_can_not_be_steered_is_said() -> None:
    with pytest.raises(Unable, match="the address of node 3 is not known yet"):
        steered({"coordinator": 3}, message("FindCoordinator", "response", 0))
    with pytest.raises(Unable, match="no leader or coordinator"):
        steered({"leader": 2}, message(direction="response"))
