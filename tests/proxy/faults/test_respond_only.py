"""`respond` with `only` and `after` on writes: what the broker gets, and what the client is told."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any, Final

import pytest

from barnabas.proxy.effects import Amend, Answer, Become, Effects, HangUp
from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.matching.message import Message
from barnabas.specs import api, records
from barnabas.specs.records import Record
from tests.proxy.faults.entries import (
    ORDERS_1,
    TOPIC,
    bodies,
    codes,
    produce,
    staged,
    stored,
    told,
    topics,
)
from tests.proxy.faults.given import halted, message, requests
from tests.proxy.frames import Chunks, request, response, slicings
from tests.proxy.playbook import Stage


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


@pytest.mark.parametrize("only", ["", f", only: {ORDERS_1}"], ids=["all", "only"])
def test_an_error_of_the_broker_remains_because_it_did_no_work(only: str) -> None:
    actor = staged(f"{{error: DUPLICATE_SEQUENCE_NUMBER, after: true{only}}}", "Produce")
    actor.ask(produce(orders=[0, 1]))
    refused = stored(orders=[0, 1], error=45)  # OUT_OF_ORDER_SEQUENCE_NUMBER
    actor.answer(refused)
    assert actor.frames("response") == [refused]


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


def test_fields_that_the_merged_response_lacks_are_not_set() -> None:
    path = "responses[name=other].partition_responses[0].error_code"
    do = f"{{error: 6, only: {ORDERS_1}, set: {{'{path}': 2}}}}"
    data = topics("topic_data", "partition_data", orders=[{"index": 0}, {"index": 1}])
    result = topics("responses", "partition_responses", orders=[{"index": 0}])
    _, client = told(do, "Produce", 8, {"acks": -1, "timeout_ms": 1} | data, result)
    assert codes(client) == {"/orders/0": 0, "/orders/1": 6}


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


def test_a_rule_about_both_directions_matches_requests_only() -> None:
    only = f"{{respond: {{error: 6, only: {ORDERS_1}}}}}"
    actor = Stage(
        f"version: 1\nrules:\n- {{name: r, match: {{api: Produce}}, do: {only}}}\n"
    ).actor()
    actor.ask(produce(orders=[1, 2]))
    actor.answer(stored(orders=[2]))
    assert actor.stage.rules.rule("r").matched == 1


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


def idempotent(
    number: int, sequence: int, *partitions: int, epoch: int = 0, producer: int = 5
) -> bytes:
    batch = records.build(
        [Record(0, 0, None, b"x")],
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
    )
    data = [{"index": index, "records": batch} for index in partitions]
    topic = [{"name": "orders", "partition_data": data}]
    return request("Produce", number, version=8, acks=-1, timeout_ms=9, topic_data=topic)


@pytest.mark.parametrize("only", ["", ", only: {topic: orders, partition: 1}"], ids=["all", "only"])
def test_batches_after_a_refused_first_one_are_refused_until_it_comes_again(only: str) -> None:
    actor = staged(f"{{error: 6{only}}}", "Produce", "when: {times: 1}")
    actor.ask(idempotent(1, 0, 1) + idempotent(2, 1, 1) + idempotent(3, 2, 1, 2))
    assert actor.frames("request") == [idempotent(3, 2, 2)]
    actor.answer(stored(3, orders=[2]))
    told = [codes(answer) for answer in bodies(actor, "response", "Produce", 8)]
    assert told == [{"/orders/1": 6}, {"/orders/1": 45}, {"/orders/1": 45, "/orders/2": 0}]
    other, first, second = idempotent(4, 7, 1, producer=6), idempotent(5, 0, 1), idempotent(6, 1, 1)
    actor.ask(other + first + second)
    assert actor.frames("request")[1:] == [other, first, second]
    assert actor.stage.rules.rule("r").fired == 1


def test_a_new_epoch_begins_after_a_refused_first_batch() -> None:
    actor = staged("{error: 6}", "Produce", "when: {times: 1}")
    actor.ask(idempotent(1, 0, 1) + idempotent(2, 0, 1, epoch=1) + idempotent(3, 1, 1, epoch=1))
    assert actor.ids("request") == [2, 3]


def test_another_producer_does_not_end_the_wait_for_a_first_batch() -> None:
    actor = staged("{error: 6}", "Produce", "when: {times: 1}")
    other = idempotent(2, 0, 1, producer=6)
    actor.ask(idempotent(1, 0, 1) + other + idempotent(3, 1, 1))
    assert actor.frames("request") == [other]


def test_later_batches_after_a_refused_one_are_left_to_the_broker() -> None:
    actor = staged("{error: 6}", "Produce", "when: {skip: 1, times: 1}")
    actor.ask(idempotent(1, 0, 1) + idempotent(2, 1, 1) + idempotent(3, 2, 1))
    assert actor.ids("request") == [1, 3]
