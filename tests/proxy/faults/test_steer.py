from __future__ import annotations

from typing import Any

import pytest

from barnabas.proxy.matching.message import Message
from tests.proxy.faults.given import Examples, Row, effect_of, fields_after, message

LEADER = {"leader": 2}
TOPICS = [
    {"name": name, "partitions": [{"partition_index": n, "leader_id": 1} for n in range(2)]}
    for name in ("orders", "clicks")
]
METADATA = message("Metadata", "response", 1, topics=TOPICS)
COORDINATOR = {"key": "g", "node_id": 1, "host": "a", "port": 1}

EXAMPLES = Examples(
    LEADER,
    rows=[Row("{leader: 2, coordinator: 2}")],
    subject=METADATA,
    about=("Metadata", "response"),
    refused=[
        ("{}", "give leader, coordinator, or both"),
        ("{coordinator: 1, topic: a}", "topic and partitions say where there is another leader: give leader"),
        ("{coordinator: 1, partitions: [1]}", "give leader"),
    ],
    unable=[
        ({"coordinator": 3}, message("FindCoordinator", "response"), "address of node 3 is not known yet"),
        (LEADER, message(direction="response"), "no leader or coordinator"),
        ({"coordinator": 3}, message(direction="response"), "no leader or coordinator"),
        (LEADER | {"topic": "x"}, METADATA, "no leader or coordinator"),
    ],
    applies=[
        (LEADER, ("Metadata", "response", 1), True),
        (LEADER, ("FindCoordinator", "response", 1), True),
        (LEADER, ("Metadata", "request", 1), False),
        (LEADER, ("Fetch", "response", 4), False),
    ],
)  # fmt: skip


def steered(settings: dict[str, Any], subject: Message) -> dict[str, Any]:
    subject.listener = {2: ("proxy", 10_002)}.get
    return fields_after("steer", settings, subject)


@pytest.mark.parametrize("version", [0, 1, 9, 12])
def test_metadata_names_another_leader(version: int) -> None:
    subject = message("Metadata", "response", version, topics=TOPICS)
    settings = {"leader": 2, "topic": "ord*", "partitions": [1]}
    topics = steered(settings, subject)["topics"]
    leaders = [[p["leader_id"] for p in topic["partitions"]] for topic in topics]
    assert leaders == [[1, 2], [1, 1]]
    assert effect_of("steer", settings, subject).what == "steered in 1 place"
    assert effect_of("steer", LEADER, subject).what == "steered in 4 places"


@pytest.mark.parametrize(("leader", "code"), [(-1, 5), (0, 0)])
def test_there_may_be_no_leader(leader: int, code: int) -> None:
    found = steered({"leader": leader}, message("Metadata", "response", 9, topics=TOPICS))
    partition = found["topics"][0]["partitions"][0]
    assert (partition["leader_id"], partition["error_code"]) == (leader, code)


@pytest.mark.parametrize("version", [0, 3])
def test_find_coordinator_names_another_one(version: int) -> None:
    subject = message("FindCoordinator", "response", version, node_id=1, host="a", port=1)
    found = steered({"coordinator": 2}, subject)
    assert (found["node_id"], found["host"], found["port"]) == (2, "proxy", 10_002)


def test_find_coordinator_for_several_groups() -> None:
    subject = message("FindCoordinator", "response", 4, coordinators=[COORDINATOR])
    (found,) = steered({"coordinator": 2}, subject)["coordinators"]
    assert (found["key"], found["node_id"], found["host"]) == ("g", 2, "proxy")
