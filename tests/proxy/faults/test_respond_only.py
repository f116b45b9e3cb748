"""`respond` with `only` and `after`: what the broker gets, and what the client is told."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, Final

import pytest

from barnabas.proxy.effects import Amend, Answer, Become, Effects, HangUp
from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.matching.message import Message, Unable
from barnabas.specs import api, records
from barnabas.specs.frames import Direction, request_head, response_body
from barnabas.specs.records import Record
from tests.proxy.faults.given import halted, message, requests
from tests.proxy.frames import Chunks, request, response, slicings
from tests.proxy.playbook import Actor, Stage

ORDERS_1: Final = "{topic: orders, partition: 1}"
TOPIC: Final = uuid.UUID(int=7)


def staged(do: str, name: str, more: str = "when: {}") -> Actor:
    """Return a connection under one rule about requests of an API."""
    match = f"{{api: {name}, direction: request}}"
    return Stage(
        f"version: 1\nrules:\n- {{name: r, match: {match}, {more}, do: {{respond: {do}}}}}\n"
    ).actor()


def bodies(actor: Actor, direction: Direction, name: str, version: int) -> list[Any]:
    """Return the bodies of an API that have reached one side."""
    declaration = api(name)
    codec = declaration.message(direction).codec(version)
    found = []
    for frame in actor.frames(direction):
        if direction == "response":
            start = 4 + response_body(frame[4:], declaration.key, version)
        else:
            head = request_head(frame, 4, len(frame))
            if head.key != declaration.key:
                continue
            start = 4 + head.body
        found.append(codec.decode(frame[start:]))
    return found


def fitted(name: str, direction: Direction, version: int, body: Any) -> dict[str, Any]:
    """Return the fields of a body that a version has."""
    return api(name).message(direction).layout(version).fitted(body)


def told(
    do: str, name: str, version: int, body: dict[str, Any], result: dict[str, Any] | None = None
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the request that the broker gets, and the response that the client gets."""
    actor = staged(do, name)
    actor.ask(request(name, 1, version=version, **fitted(name, "request", version, body)))
    if result is not None:
        answer = fitted(name, "response", version, result)
        actor.answer(response(name, 1, version=version, **answer))
    directions: tuple[Direction, Direction] = ("request", "response")
    broker, client = (bodies(actor, direction, name, version) for direction in directions)
    return broker[0] if broker else None, client[0] if client else None


def topics(name: str, inner: str, **indexes: list[Any]) -> dict[str, Any]:
    return {name: [{"name": topic, inner: items} for topic, items in indexes.items()]}


def codes(value: Any, path: str = "") -> dict[str, int]:
    """Return each error code of a response, by the names and indexes that lead to it."""
    found: dict[str, int] = {}
    for inner in value.values() if isinstance(value, dict) else ():
        if isinstance(inner, list):
            for entry in inner:
                if isinstance(entry, dict):
                    words = (entry.get(name) for name in IDENTIFYING)
                    at = f"{path}/{next((word for word in words if word is not None), '?')}"
                    found.update(codes(entry, at))
    if isinstance(value, dict) and path:
        found.update(
            (path, code) for name, code in value.items()
            if name.endswith("error_code") and name != "topic_config_error_code"
        )  # fmt: skip
    return found


IDENTIFYING: Final = (
    *("name", "topic", "partition_index", "index", "group_id", "key", "resource_name", "user"),
    *("member_id", "transactional_id", "partition"),
)


def produce(number: int = 1, acks: int = -1, **partitions: list[int]) -> bytes:
    data = {
        topic: [
            {"index": index, "records": records.build([Record(0, 0, None, b"x")])} for index in some
        ]
        for topic, some in partitions.items()
    }
    body = topics("topic_data", "partition_data", **data)
    return request("Produce", number, version=8, acks=acks, timeout_ms=9, **body)


def stored(number: int = 1, **partitions: list[int]) -> bytes:
    data = {
        topic: [{"index": index, "base_offset": 5} for index in some]
        for topic, some in partitions.items()
    }
    return response(
        "Produce", number, version=8, **topics("responses", "partition_responses", **data)
    )


@slicings
def test_a_refused_partition_is_not_written_and_the_others_are(chunks: Chunks) -> None:
    actor = staged(f"{{error: NOT_LEADER_OR_FOLLOWER, only: {ORDERS_1}}}", "Produce")
    actor.ask(produce(orders=[0, 1, 2], clicks=[1]) + requests(2), chunks)
    assert actor.frames("request")[0] == produce(orders=[0, 2], clicks=[1])
    actor.answer(stored(clicks=[1], orders=[2, 0]), chunks)
    (answer,) = bodies(actor, "response", "Produce", 8)
    assert list(codes(answer).items()) == [
        ("/orders/0", 0), ("/orders/1", 6), ("/orders/2", 0), ("/clicks/1", 0)
    ]  # fmt: skip
    offsets = [entry["base_offset"] for entry in answer["responses"][0]["partition_responses"]]
    assert offsets == [5, -1, 5]
    assert actor.stage.rules.rule("r").fired == 1


def test_a_request_without_such_an_entry_does_not_match() -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Produce", "when: {times: 1}")
    for number, some in ((1, [0]), (2, [1]), (3, [1])):
        actor.ask(produce(number, orders=some))
    assert actor.ids("request") == [1, 3]
    assert (actor.stage.rules.rule("r").matched, actor.stage.rules.rule("r").fired) == (2, 1)


def test_the_proxy_answers_if_no_entry_is_left() -> None:
    actor = staged("{error: 6, only: {topic: 'o*'}}", "Produce")
    actor.ask(produce(orders=[0, 1], others=[4]) + requests(2))
    assert actor.ids("request") == [2]
    (answer,) = bodies(actor, "response", "Produce", 8)
    assert codes(answer) == {"/orders/0": 6, "/orders/1": 6, "/others/4": 6}


def test_rules_about_several_partitions_add_up() -> None:
    rules = "".join(
        f"- {{name: r{index}, match: {{api: Produce, direction: request}},"
        f" do: {{respond: {{error: {error}, only: {{topic: orders, partition: {index}}}}}}}}}\n"
        for index, error in ((0, 6), (1, 19), (2, 2))
    )
    actor = Stage(f"version: 1\nrules:\n{rules}").actor()
    actor.ask(produce(1, orders=[3, 2, 1, 0]))
    assert actor.frames("request") == [produce(1, orders=[3])]
    actor.answer(stored(1, orders=[3]))
    actor.ask(produce(2, orders=[0, 1]))  # the second rule finds nothing else, and answers
    first, second = bodies(actor, "response", "Produce", 8)
    assert list(codes(first).items()) == [
        ("/orders/3", 0), ("/orders/2", 2), ("/orders/1", 19), ("/orders/0", 6)
    ]  # fmt: skip
    assert codes(second) == {"/orders/0": 6, "/orders/1": 19}


@slicings
def test_with_acks_0_the_rest_is_written_and_the_connection_closed(chunks: Chunks) -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Produce")
    actor.ask(produce(acks=0, orders=[0, 1]), chunks)
    assert actor.frames("request") == [produce(acks=0, orders=[0])]
    assert actor.aborted
    nothing_left = staged(f"{{error: 6, only: {ORDERS_1}}}", "Produce")
    nothing_left.ask(produce(acks=0, orders=[1]), chunks)
    assert nothing_left.frames("request") == []
    assert nothing_left.aborted


@slicings
@pytest.mark.parametrize(
    ("only", "result"), [("", 7), (f", only: {ORDERS_1}", 0)], ids=["all", "only"]
)
def test_after_the_work_the_client_is_told_the_error(
    chunks: Chunks, only: str, result: int
) -> None:
    actor = staged(f"{{error: REQUEST_TIMED_OUT, after: true{only}}}", "Produce")
    actor.ask(produce(orders=[0, 1]), chunks)
    assert actor.frames("request") == [produce(orders=[0, 1])]
    actor.answer(stored(orders=[0, 1]), chunks)
    (answer,) = bodies(actor, "response", "Produce", 8)
    assert codes(answer) == {"/orders/0": result, "/orders/1": 7}
    assert [e["base_offset"] for e in answer["responses"][0]["partition_responses"]][1] == -1


def test_after_the_work_acks_0_closes_the_connection() -> None:
    actor = staged("{error: 7, after: true}", "Produce")
    actor.ask(produce(acks=0, orders=[0]))
    assert actor.frames("request") == [produce(acks=0, orders=[0])]
    assert actor.aborted


def test_a_response_that_cannot_be_read_passes_unchanged_and_is_reported() -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Produce")
    actor.ask(produce(orders=[0, 1]))
    broken = stored(orders=[0])[:-1]
    broken = (len(broken) - 4).to_bytes(4) + broken[4:]
    actor.answer(broken)
    assert actor.frames("response") == [broken]
    assert (
        "respond NOT_LEADER_OR_FOLLOWER for topic orders partition 1 could not be done"
        in actor.said[0]
    )


def commit(**partitions: list[int]) -> dict[str, Any]:
    found = {
        name: [{"partition_index": each} for each in some] for name, some in partitions.items()
    }
    return topics("topics", "partitions", **found)


WRITES: Final = [
    # api, version, only, request, what is left of it, the broker's result, codes that the client is told
    ("OffsetCommit", 8, ORDERS_1, {"group_id": "g"} | commit(orders=[0, 1], clicks=[1]),
     {"group_id": "g"} | commit(orders=[0], clicks=[1]), commit(clicks=[1], orders=[0]),
     {"/orders/0": 0, "/orders/1": 3, "/clicks/1": 0}),
    ("OffsetCommit", 8, "{group: g}", {"group_id": "g"} | commit(orders=[0]), None, None, {"/orders/0": 3}),
    ("TxnOffsetCommit", 3, "{topic: orders}",
     {"transactional_id": "t", "group_id": "g"} | commit(orders=[0, 1], clicks=[1]),
     {"transactional_id": "t", "group_id": "g"} | commit(clicks=[1]), commit(clicks=[1]),
     {"/orders/0": 3, "/orders/1": 3, "/clicks/1": 0}),
    ("CreateTopics", 5, "{topic: orders}", {"topics": [{"name": "clicks"}, {"name": "orders"}]},
     {"topics": [{"name": "clicks"}]}, {"topics": [{"name": "clicks"}]}, {"/clicks": 0, "/orders": 3}),
    ("DeleteRecords", 2, "{partition: 1}", commit(orders=[0, 1], clicks=[1]), commit(orders=[0]),
     commit(orders=[0]), {"/orders/0": 0, "/orders/1": 3, "/clicks/1": 3}),
    ("DeleteGroups", 2, "{group: 'a*'}", {"groups_names": ["b", "ab", "a"]}, {"groups_names": ["b"]},
     {"results": [{"group_id": "b"}]}, {"/b": 0, "/ab": 3, "/a": 3}),
    ("LeaveGroup", 4, "{member: static}",
     {"group_id": "g", "members": [{"member_id": "m"}, {"member_id": "", "group_instance_id": "static"}]},
     {"group_id": "g", "members": [{"member_id": "m"}]}, {"members": [{"member_id": "m"}]},
     {"/m": 0, "/": 3}),
    ("IncrementalAlterConfigs", 1, "{config: retention.ms}",
     {"resources": [{"resource_type": 2, "resource_name": "a", "configs": [{"name": "retention.ms"}]},
                    {"resource_type": 2, "resource_name": "b", "configs": [{"name": "segment.ms"}]}]},
     {"resources": [{"resource_type": 2, "resource_name": "b", "configs": [{"name": "segment.ms"}]}]},
     {"responses": [{"resource_type": 2, "resource_name": "b"}]}, {"/a": 3, "/b": 0}),
    ("WriteTxnMarkers", 1, "{producer_id: 5, topic: a}",
     {"markers": [{"producer_id": p, "topics": [{"name": n, "partition_indexes": [0]} for n in "ab"]}
                  for p in (4, 5)]},
     {"markers": [{"producer_id": 4, "topics": [{"name": n, "partition_indexes": [0]} for n in "ab"]},
                  {"producer_id": 5, "topics": [{"name": "b", "partition_indexes": [0]}]}]},
     {"markers": [{"producer_id": p, "topics": [{"name": n, "partitions": [{"partition_index": 0}]}
                                                for n in names]} for p, names in ((5, "b"), (4, "ab"))]},
     {"/?/a/0": 3, "/?/b/0": 0}),
    ("AlterReplicaLogDirs", 2, "{topic: a}",
     {"dirs": [{"path": "/1", "topics": [{"name": "a", "partitions": [0]}, {"name": "b", "partitions": [0]}]},
               {"path": "/2", "topics": [{"name": "a", "partitions": [1]}]}]},
     {"dirs": [{"path": "/1", "topics": [{"name": "b", "partitions": [0]}]}]},
     {"results": [{"topic_name": "b", "partitions": [{"partition_index": 0}]}]},
     {"/?/0": 0, "/?/1": 3}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "version", "only", "body", "left", "result", "expected"), WRITES,
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_the_broker_does_the_rest_of_a_write(
    name: str, version: int, only: str, body: Any, left: Any, result: Any, expected: Any
) -> None:
    broker, client = told(f"{{error: 3, only: {only}}}", name, version, body, result)
    declared = api(name).request.codec(version)
    assert broker == (None if left is None else declared.decode(declared.encode(left)))
    assert {path: code for path, code in codes(client).items() if path in expected} == expected


def test_creations_of_acls_are_told_apart_by_their_positions() -> None:
    creations = [
        {"resource_type": 2, "resource_name": name, "principal": "User:a"} for name in "abcb"
    ]
    results = [{"error_code": 0, "error_message": text} for text in "13"]
    broker, client = told(
        "{error: 3, only: {resource: b}}",
        "CreateAcls",
        3,
        {"creations": creations},
        {"results": results},
    )
    assert [each["resource_name"] for each in broker["creations"]] == ["a", "c"]  # type: ignore[index]
    found = [(each["error_code"], each["error_message"]) for each in client["results"]]  # type: ignore[index]
    assert found == [(0, "1"), (3, None), (0, "3"), (3, None)]


@pytest.mark.parametrize("version", [3, 5])
def test_no_partition_is_added_to_a_transaction_if_one_is_refused(version: int) -> None:
    asked = {"name": "a", "partitions": [0, 1]}, {"name": "b", "partitions": [0]}
    transaction = {"transactional_id": "t", "producer_id": 1, "topics": [*asked]}
    other = {
        "transactional_id": "u",
        "producer_id": 2,
        "topics": [{"name": "a", "partitions": [0]}],
    }
    body: dict[str, Any] = {"transactions": [transaction, other]}
    result: dict[str, Any] = {"results_by_transaction": [{"transactional_id": "u", "topic_results": [
        {"name": "a", "results_by_partition": [{"partition_index": 0}]}]}]}  # fmt: skip
    if version == 3:
        body = {f"v3_and_below_{name}": value for name, value in transaction.items()}
        result = {}
    only = "{topic: a, partition: 1, transactional_id: t}"
    broker, client = told(
        f"{{error: 29, only: {only}}}", "AddPartitionsToTxn", version, body, result
    )
    if version == 3:
        assert broker is None
        assert codes(client) == {"/a/0": 55, "/a/1": 29, "/b/0": 55}
        return
    assert broker is not None
    assert [each["transactional_id"] for each in broker["transactions"]] == ["u"]
    assert codes(client) == {"/t/a/0": 55, "/t/a/1": 29, "/t/b/0": 55, "/u/a/0": 0}


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


def fetch(
    number: int, epoch: int, *partitions: int, gone: tuple[int, ...] = (), v: int = 13
) -> bytes:
    asked = [{"partition": index} for index in partitions]
    body = {
        "session_id": 9 if epoch > 0 else 0, "session_epoch": epoch, "max_wait_ms": 500,
        "topics": [{"topic": "orders", "topic_id": TOPIC, "partitions": asked}] if asked else [],
        "forgotten_topics_data": [
            {"topic": "orders", "topic_id": TOPIC, "partitions": [each]} for each in gone
        ],
    }  # fmt: skip
    return request("Fetch", number, version=v, **fitted("Fetch", "request", v, body))


def fetched(number: int, *partitions: int, error: int = 0, v: int = 13) -> bytes:
    entries = [{"partition_index": index, "high_watermark": 7} for index in partitions]
    responses = [{"topic": "orders", "topic_id": TOPIC, "partitions": entries}] if entries else []
    body = {"session_id": 9, "error_code": error, "responses": responses}
    return response("Fetch", number, version=v, **fitted("Fetch", "response", v, body))


@pytest.mark.parametrize("version", [7, 12, 13])
def test_a_partition_of_a_fetch_session_is_refused_though_no_request_names_it(version: int) -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Fetch", "when: {skip: 1}")
    actor.stage.shared.topics[TOPIC] = "orders"
    entry = "/orders" if version < 13 else "/?"

    def exchange(number: int, asked: bytes, answer: bytes) -> tuple[int, dict[str, int]]:
        actor.ask(asked)
        actor.answer(answer)
        sent = bodies(actor, "request", "Fetch", version)[-1]
        return sent["max_wait_ms"], codes(bodies(actor, "response", "Fetch", version)[-1])

    v = version
    assert exchange(1, fetch(1, 0, 0, 1, v=v), fetched(1, 0, 1, v=v)) == (
        500, {f"{entry}/0": 0, f"{entry}/1": 0}
    )  # fmt: skip
    # the broker has nothing new; the refused partition is told at once
    assert exchange(2, fetch(2, 1, v=v), fetched(2, v=v)) == (0, {f"{entry}/1": 6})
    assert exchange(3, fetch(3, 2, 0, v=v), fetched(3, 1, 0, v=v)) == (
        0, {f"{entry}/0": 0, f"{entry}/1": 6}
    )  # fmt: skip
    # a session that the broker has lost: nothing is added
    assert exchange(4, fetch(4, 3, v=v), fetched(4, error=70, v=v)) == (0, {})
    exchange(5, fetch(5, 0, 0, 1, v=v), fetched(5, 0, v=v))
    exchange(6, fetch(6, 1, gone=(1,), v=v), fetched(6, v=v))
    # the request that ends the session does not match, and partition 1 has left it
    assert exchange(7, fetch(7, 2, v=v), fetched(7, 0, v=v)) == (500, {f"{entry}/0": 0})


def test_a_topic_id_whose_name_is_unknown_is_undecided() -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Fetch")
    actor.ask(fetch(1, 0, 1))
    assert actor.stage.rules.rule("r").unclear == 1
    assert actor.stage.shared.unresolved


def test_acknowledgements_in_a_share_fetch_keep_their_result() -> None:
    entry = {"partition_index": 1, "acknowledge_error_code": 121, "error_code": 0}
    actor = staged("{error: 6, only: {topic: orders}}", "ShareFetch")
    actor.stage.shared.topics[TOPIC] = "orders"
    asked = [{"topic_id": TOPIC, "partitions": [{"partition_index": 1}]}]
    body: dict[str, Any] = {
        "group_id": "g", "member_id": "m", "share_session_epoch": 0, "topics": asked
    }  # fmt: skip
    actor.ask(request("ShareFetch", 1, version=1, **body))
    answer = {"responses": [{"topic_id": TOPIC, "partitions": [entry]}]}
    actor.answer(response("ShareFetch", 1, version=1, **answer))
    (client,) = bodies(actor, "response", "ShareFetch", 1)
    (told_entry,) = client["responses"][0]["partitions"]
    assert (told_entry["error_code"], told_entry["acknowledge_error_code"]) == (6, 121)
    actor.ask(request("ShareFetch", 2, version=1, **body))
    actor.answer(response("ShareFetch", 2, version=1))  # without an entry for the partition
    (added,) = bodies(actor, "response", "ShareFetch", 1)[1]["responses"][0]["partitions"]
    assert (added["error_code"], added["acknowledge_error_code"]) == (6, 0)


def test_the_producer_of_a_produce_request_is_that_of_its_batches() -> None:
    batches = [records.build([Record(0, 0, None, b"x")], producer_id=each) for each in (5, 6)]
    data = [{"index": index, "records": batch} for index, batch in enumerate(batches)]
    body = {"acks": -1, "timeout_ms": 9, "topic_data": [{"name": "a", "partition_data": data}]}
    result = topics("responses", "partition_responses", a=[{"index": 1}])
    broker, client = told("{error: 47, only: {producer_id: 5}}", "Produce", 8, body, result)
    assert broker is not None
    assert [each["index"] for each in broker["topic_data"][0]["partition_data"]] == [1]
    assert codes(client) == {"/a/0": 47, "/a/1": 0}


def test_further_fields_may_be_set_in_the_merged_response() -> None:
    do = f"{{error: 6, only: {ORDERS_1}, set: {{throttle_time_ms: 40}}}}"
    data = topics("topic_data", "partition_data", orders=[{"index": 0}, {"index": 1}])
    result = topics("responses", "partition_responses", orders=[{"index": 0}])
    _, client = told(do, "Produce", 8, {"acks": -1, "timeout_ms": 1} | data, result)
    assert client is not None
    assert client["throttle_time_ms"] == 40


def effects(settings: dict[str, Any], subject: Message) -> Effects:
    return respond(Respond.model_validate(settings), subject, float)


def test_effects_say_what_they_do() -> None:
    data = topics("topic_data", "partition_data", orders=[{"index": 0}, {"index": 1}])
    subject = message("Produce", version=8, acks=1, timeout_ms=1, **data)
    only = {"topic": "orders", "partition": [1, "3-4"]}
    become, amend = effects({"error": 6, "only": only}, subject)
    assert isinstance(become, Become)
    assert isinstance(amend, Amend)
    where = "topic orders partition 1 or 3-4"
    assert str(become) == f"take out {where}"
    assert str(amend) == f"respond NOT_LEADER_OR_FOLLOWER for {where}"
    (amend,) = effects({"error": 7, "after": True}, subject)
    assert str(amend) == "respond REQUEST_TIMED_OUT"
    (answer,) = effects({"error": 6, "only": {"topic": "*"}}, subject)
    assert isinstance(answer, Answer)
    silent = replace(subject, acks=0)
    (hang_up,) = effects({"error": 7, "after": True}, silent)
    assert isinstance(hang_up, HangUp)


def test_records_that_a_share_fetch_acquired_for_a_refused_partition_are_released() -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "ShareFetch", "when: {times: 1}")
    actor.stage.shared.topics[TOPIC] = "orders"

    def asked(number: int, epoch: int, **more: Any) -> None:
        member = {"group_id": "g", "member_id": "m"}
        body: dict[str, Any] = {**member, "share_session_epoch": epoch} | more
        actor.ask(request("ShareFetch", number, version=2, **body))

    def answered(number: int, *partitions: dict[str, Any]) -> None:
        topics = [{"topic_id": TOPIC, "partitions": [*partitions]}] if partitions else []
        actor.answer(response("ShareFetch", number, version=2, responses=topics))

    acquired = [{"first_offset": 4, "last_offset": 6}, {"first_offset": 9, "last_offset": 9}]
    both = [{"partition_index": index, "acquired_records": acquired} for index in (0, 1)]
    asked(
        1,
        0,
        topics=[
            {"topic_id": TOPIC, "partitions": [{"partition_index": 0}, {"partition_index": 1}]}
        ],
    )
    answered(1, *both)
    asked(2, 1, is_renew_ack=True)
    own = {"first_offset": 7, "last_offset": 7, "acknowledge_types": [1]}
    asked(3, 2, topics=[
        {"topic_id": TOPIC, "partitions": [{"partition_index": 1, "acknowledgement_batches": [own]}]}
    ])  # fmt: skip
    asked(4, 3)
    renewed, releasing, last = bodies(actor, "request", "ShareFetch", 2)[1:]
    assert renewed["topics"] == last["topics"] == []
    ((topic),) = releasing["topics"]
    ((partition),) = topic["partitions"]
    batches = [
        (each["first_offset"], each["last_offset"], each["acknowledge_types"])
        for each in partition["acknowledgement_batches"]
    ]
    assert partition["partition_index"] == 1
    assert batches == [(4, 6, [2]), (7, 7, [1]), (9, 9, [2])]
    told = bodies(actor, "response", "ShareFetch", 2)[0]["responses"][0]["partitions"]
    assert [len(each["acquired_records"]) for each in told] == [2, 0]


def test_an_empty_array_of_metadata_stands_for_no_topic_but_in_v0() -> None:
    do = f"{{error: 5, only: {ORDERS_1}}}"
    for version, count in ((0, 1), (1, 0), (9, 0)):
        actor = staged(do, "Metadata")
        actor.ask(request("Metadata", 1, version=version, topics=[]))
        assert actor.stage.rules.rule("r").fired == count


def test_a_message_at_a_breakpoint_may_be_refused_in_part() -> None:
    match = "{api: Produce, direction: request}"
    actor = Stage(f"version: 1\nrules:\n- {{name: b, match: {match}, do: breakpoint}}\n").actor()
    actor.ask(produce(orders=[0, 1]))
    (waiting,) = halted(actor)
    do = {"respond": {"error": 6, "only": {"topic": "orders", "partition": 1}}}
    where = "topic orders partition 1"
    assert actor.stage.decide(waiting.id, do) == (
        f"take out {where}", f"respond NOT_LEADER_OR_FOLLOWER for {where}"
    )  # fmt: skip
    assert actor.frames("request") == [produce(orders=[0])]
    actor.answer(stored(orders=[0]))
    (answer,) = bodies(actor, "response", "Produce", 8)
    assert codes(answer) == {"/orders/0": 0, "/orders/1": 6}


def test_a_request_that_ends_a_session_names_no_partition_of_it() -> None:
    actor = staged(f"{{error: 6, only: {ORDERS_1}}}", "Fetch")
    actor.ask(fetch(1, 0, 0, 1, v=7))
    actor.answer(fetched(1, 0, 1, v=7))
    actor.ask(request("Fetch", 2, version=7, session_id=9, session_epoch=-1))
    assert actor.stage.rules.rule("r").fired == 1


@pytest.mark.parametrize(("name", "error"), [("Fetch", 70), ("ShareFetch", 122)])
def test_a_session_that_began_before_the_rule_is_ended(name: str, error: int) -> None:
    actor = staged("{error: 6, only: {topic: orders, partition: 1}}", name, "when: {times: 1}")
    actor.stage.shared.topics[TOPIC] = "orders"
    version = 1 if name == "ShareFetch" else 13
    asked = fetch if name == "Fetch" else share_fetch
    actor.ask(asked(1, 5) + asked(2, 0, 0, 1))
    assert actor.ids("request") == [2]
    (ended,) = bodies(actor, "response", name, version)
    assert (ended["error_code"], ended["responses"]) == (error, [])
    rule = actor.stage.rules.rule("r")
    assert (rule.fired, rule.unclear) == (1, 1)
    (line,) = actor.said
    assert "the session began before the rule: its partitions are unknown" in line


def test_acknowledgements_pass_before_a_session_is_ended() -> None:
    actor = staged("{error: 6, only: {partition: 1}}", "ShareFetch")
    acknowledging = share_fetch(1, 5, 0, acknowledges=True)
    actor.ask(acknowledging + share_fetch(2, 6))
    assert actor.frames("request") == [acknowledging]
    actor.answer(response("ShareFetch", 1, version=1))
    assert bodies(actor, "response", "ShareFetch", 1)[1]["error_code"] == 122


def share_fetch(number: int, epoch: int, *partitions: int, acknowledges: bool = False) -> bytes:
    batch = {"first_offset": 0, "last_offset": 0, "acknowledge_types": [1]}
    batches = [batch] * acknowledges
    asked = [{"partition_index": each, "acknowledgement_batches": batches} for each in partitions]
    body: dict[str, Any] = {"group_id": "g", "member_id": "m", "share_session_epoch": epoch}
    body["topics"] = [{"topic_id": TOPIC, "partitions": asked}] if asked else []
    return request("ShareFetch", number, version=1, **body)


def test_an_acknowledgement_names_only_partitions_with_records() -> None:
    actor = staged("{error: 6, only: {partition: 1}}", "[ShareFetch, ShareAcknowledge]")
    member = {"group_id": "g", "member_id": "m"}
    both: list[dict[str, Any]] = [{"partition_index": index} for index in (0, 1)]
    asked = [{"topic_id": TOPIC, "partitions": both}]
    first: dict[str, Any] = {**member, "share_session_epoch": 0, "topics": asked}
    actor.ask(request("ShareFetch", 1, version=1, **first))
    actor.answer(response("ShareFetch", 1, version=1))
    own: dict[str, Any] = {**member, "share_session_epoch": 1}
    own["topics"] = [{"topic_id": TOPIC, "partitions": both[:1]}]
    actor.ask(request("ShareAcknowledge", 2, version=1, **own))
    assert actor.stage.rules.rule("r").fired == 1
    (left,) = bodies(actor, "request", "ShareAcknowledge", 1)
    assert [each["partition_index"] for each in left["topics"][0]["partitions"]] == [0]


def test_a_rule_about_both_directions_matches_requests_only() -> None:
    only = f"{{respond: {{error: 6, only: {ORDERS_1}}}}}"
    actor = Stage(
        f"version: 1\nrules:\n- {{name: r, match: {{api: Produce}}, do: {only}}}\n"
    ).actor()
    actor.ask(produce(orders=[1, 2]))
    actor.answer(stored(orders=[2]))
    assert actor.stage.rules.rule("r").matched == 1


def test_a_topic_in_several_blocks_gets_each_error_once() -> None:
    actor = staged("{error: 6, only: {topic: orders, partition: [1, 3]}}", "Fetch")
    blocks = [("orders", 0), ("b", 0), ("orders", 1), ("orders", 3)]
    asked = [{"topic": name, "partitions": [{"partition": index}]} for name, index in blocks]
    actor.ask(request("Fetch", 1, version=7, topics=asked))
    entries = [{"topic": n, "partitions": [{"partition_index": i}]} for n, i in blocks[:3]]
    actor.answer(response("Fetch", 1, version=7, responses=entries))
    (answer,) = bodies(actor, "response", "Fetch", 7)
    told = [
        (topic["topic"], partition["partition_index"], partition["error_code"])
        for topic in answer["responses"]
        for partition in topic["partitions"]
    ]
    assert sorted(told) == [("b", 0, 0), ("orders", 0, 0), ("orders", 1, 6), ("orders", 3, 6)]


def test_a_topic_whose_name_is_learned_later_keeps_the_result_of_its_write() -> None:
    other = uuid.UUID(int=8)
    actor = staged("{error: 6, only: {topic: 'orders*'}}", "Produce")
    actor.stage.shared.topics[TOPIC] = "orders"
    data = [{"topic_id": each, "partition_data": [{"index": 0}]} for each in (TOPIC, other)]
    actor.ask(request("Produce", 1, version=13, acks=-1, timeout_ms=9, topic_data=data))
    actor.stage.shared.topics[other] = "orders-2"
    stored_entry = [{"index": 0, "base_offset": 77}]
    result = [{"topic_id": other, "partition_responses": stored_entry}]
    actor.answer(response("Produce", 1, version=13, responses=result))
    (answer,) = bodies(actor, "response", "Produce", 13)
    told = [topic["partition_responses"][0] for topic in answer["responses"]]
    assert [(each["error_code"], each["base_offset"]) for each in told] == [(6, -1), (0, 77)]


@pytest.mark.parametrize("more", ["drop: {selective: true}", "edit: {set: {acks: 0}}"])
def test_nothing_is_kept_of_a_request_that_has_no_response(more: str) -> None:
    match = "match: {api: Produce, direction: request}"
    dos = (f"respond: {{error: 6, only: {ORDERS_1}}}", more)
    rules = (f"- {{name: r{at}, {match}, do: {{{do}}}}}\n" for at, do in enumerate(dos))
    actor = Stage(f"version: 1\nrules:\n{''.join(rules)}").actor()
    actor.ask(produce(1, orders=[0, 1]))
    state = actor.connection.state
    assert state.replies == {}
    assert state.retained_bytes == 0
    assert actor.waiting == []


def test_the_errors_in_flight_count_as_retained_memory() -> None:
    actor = staged("{error: 6, only: {topic: orders}}", "Produce")
    actor.ask(produce(1, orders=[1], clicks=[*range(100)]))
    assert actor.connection.state.retained_bytes > 100 * 100
    actor.answer(stored(1, clicks=[*range(100)]))
    assert actor.connection.state.retained_bytes == 0


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


def share_answer(number: int, name: str, *partitions: dict[str, Any]) -> bytes:
    entries = [{"topic_id": TOPIC, "partitions": [*partitions]}] if partitions else []
    return response(name, number, version=1, responses=entries)


def owed_a_release(more: str = "") -> Actor:
    """Return a connection whose member is owed the release of offsets 4 to 6 of partition 1."""
    match = "match: {api: [ShareFetch, ShareAcknowledge]}"
    do = "{respond: {error: 6, only: {partition: 1}}}"
    actor = Stage(f"version: 1\nrules:\n- {{name: r, {match}, do: {do}}}\n{more}").actor()
    actor.ask(share_fetch(1, 0, 0, 1))
    acquired = [{"first_offset": 4, "last_offset": 6}]
    entries = [{"partition_index": index, "acquired_records": acquired} for index in (0, 1)]
    actor.answer(share_answer(1, "ShareFetch", *entries))
    return actor


def acknowledge(number: int, epoch: int, *partitions: int) -> bytes:
    batch = {"first_offset": 4, "last_offset": 6, "acknowledge_types": [1]}
    asked = [{"partition_index": each, "acknowledgement_batches": [batch]} for each in partitions]
    body: dict[str, Any] = {"group_id": "g", "member_id": "m", "share_session_epoch": epoch}
    body["topics"] = [{"topic_id": TOPIC, "partitions": asked}]
    return request("ShareAcknowledge", number, version=1, **body)


def test_a_release_reaches_the_broker_whatever_the_rule_refuses() -> None:
    actor = owed_a_release()
    actor.ask(acknowledge(2, 1, 0))
    assert actor.stage.rules.rule("r").fired == 1
    (sent,) = bodies(actor, "request", "ShareAcknowledge", 1)
    types = {
        partition["partition_index"]: partition["acknowledgement_batches"][0]["acknowledge_types"]
        for partition in sent["topics"][0]["partitions"]
    }
    assert types == {0: [1], 1: [2]}
    actor.sent["response"].clear()
    # the client did not ask for the release
    actor.answer(
        share_answer(
            2, "ShareAcknowledge", {"partition_index": 0}, {"partition_index": 1, "error_code": 121}
        )
    )
    (told,) = bodies(actor, "response", "ShareAcknowledge", 1)
    assert [each["partition_index"] for each in told["responses"][0]["partitions"]] == [0]


@pytest.mark.parametrize("do", ["{respond: {error: 16}}", "{drop: {selective: true}}"])
def test_a_release_waits_for_a_request_that_is_forwarded(do: str) -> None:
    match = "match: {api: ShareAcknowledge}, when: {times: 1}"
    actor = owed_a_release(f"- {{name: s, {match}, do: {do}}}\n")
    actor.ask(acknowledge(2, 1, 0) + acknowledge(3, 2, 0))
    (sent,) = bodies(actor, "request", "ShareAcknowledge", 1)
    assert [each["partition_index"] for each in sent["topics"][0]["partitions"]] == [0, 1]
