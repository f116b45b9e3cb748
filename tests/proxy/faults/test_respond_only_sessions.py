"""`respond` with `only` in fetch and share sessions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.proxy.faults.entries import (
    ORDERS_1,
    TOPIC,
    bodies,
    codes,
    fitted,
    staged,
)
from tests.proxy.frames import request, response
from tests.proxy.playbook import Actor, Stage


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
