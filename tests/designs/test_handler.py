"""Drafts through the proxy: who asks, what the log has, rules on what the coordinator asks."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.designs.central_coordination.peers import wire as central
from barnabas.designs.consumer_rewrite.peers import wire as rewrite
from barnabas.designs.dialogue import Dialogue
from barnabas.designs.protocol_guide.client_0_8.requests import fetch, produce
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.keys import METADATA as METADATA_KEY
from tests.designs.messages import OFFSETS, REGISTER
from tests.proxy.frames import Chunks, bytewise, raw, whole
from tests.proxy.playbook import Actor, Stage

QUIET = "version: 1\ndialect: central-coordination\nrules: []\n"
METADATA = {
    "coordinator_id": 1,
    "brokers_info": [{"id": 1, "host": "real", "port": 9092}, {"id": 2, "host": "r2", "port": 1}],
}


def answer(key: int, number: int, body: dict[str, Any]) -> bytes:
    return encode_frame(Frame("response", key, 0, {"correlation_id": number}, body))


def ruled(match: str, do: str) -> str:
    return (
        "version: 1\ndialect: central-coordination\nrules:\n"
        f"  - {{name: r, match: {{{match}}}, do: {do}}}\n"
    )


def registered(scenario: str = QUIET, chunks: Chunks = whole) -> Actor:
    actor = Stage(scenario).actor()
    actor.ask(central.request("RegisterConsumer", REGISTER), chunks)
    actor.answer(central.response("RegisterConsumer"), chunks)
    return actor


@pytest.mark.parametrize("chunks", [whole, bytewise])
def test_all_passes_as_it_came_and_the_log_says_who_was_asked_what(chunks: Chunks) -> None:
    actor = registered(chunks=chunks)
    asked = [central.request("Ping"), central.request("StopFetcher")]
    answers = [central.response("Ping"), central.response("StopFetcher", body=OFFSETS)]
    for data in asked:
        actor.answer(data, chunks)
    for data in answers:
        actor.ask(data, chunks)
    assert actor.frames("response")[1:] == asked
    assert actor.frames("request")[1:] == answers
    assert [(one.api, one.client_id) for one in actor.done] == [
        ("RegisterConsumer", "c"),
        ("Ping", "c"),
        ("StopFetcher", "c"),
    ]
    assert actor.done[0].request == REGISTER
    assert actor.done[2].response == OFFSETS
    assert {one.sent for one in actor.done} == {None}  # what a rule holds back leaves unseen
    assert actor.connection.idle
    assert not actor.said


def test_addresses_that_are_not_found_do_not_pass() -> None:
    actor = Stage(QUIET).actor()
    actor.ask(central.request("ClusterMetadata"))
    real = central.response("ClusterMetadata", body=METADATA)
    actor.answer(raw(real[4:-3]))
    assert not actor.sent["response"]
    assert [one.note for one in actor.done] == ["response withheld: connection closed"]
    assert actor.aborted
    assert actor.said[-1].endswith("connection closed")


def test_addresses_are_the_proxys() -> None:
    actor = Stage(QUIET).actor()
    actor.ask(central.request("ClusterMetadata"))
    actor.answer(central.response("ClusterMetadata", body=METADATA))
    (frame,) = actor.frames("response")
    _, body = central.read_response(frame[4:], "ClusterMetadata")
    assert [(one["host"], one["port"]) for one in body["brokers_info"]] == [
        ("proxy", 10_001),
        ("proxy", 10_002),
    ]


def test_a_rule_on_what_the_coordinator_asks() -> None:
    actor = registered(
        ruled("api: StartFetcher, direction: request, client_id: c", "{delay: 50ms}")
    )
    actor.answer(central.request("StartFetcher", OFFSETS))
    assert len(actor.frames("response")) == 1
    actor.stage.wait(49)
    assert len(actor.frames("response")) == 1
    actor.stage.wait(1)
    assert len(actor.frames("response")) == 2
    actor.ask(central.response("StartFetcher"))
    assert actor.done[-1].rules == ("r",)


def test_a_rule_on_an_error_by_the_drafts_own_name() -> None:
    actor = Stage(ruled("error: duplicateConsumerId", "{delay: 50ms}")).actor()
    for answer in ("SessionTimeoutTooLow", "DuplicateConsumerId"):
        actor.ask(central.request("RegisterConsumer", REGISTER))
        actor.answer(central.response("RegisterConsumer", answer))
    assert [one.rules for one in actor.done] == [(), ("r",)]
    assert len(actor.frames("response")) == 1


def test_an_error_in_a_body_by_the_drafts_own_name() -> None:
    scenario = (
        "version: 1\ndialect: rewrite-0.8.2\nrules:\n"
        "  - {name: r, match: {api: Heartbeat, error: [UnknownConsumerId]}, do: {delay: 1ms}}\n"
    )
    actor = Stage(scenario).actor()
    beat = {"group_id": "g", "group_generation_id": 1, "consumer_id": "x"}
    for number, code in ((1, 22), (2, 25)):
        actor.ask(rewrite.request("Heartbeat", number, "me", beat))
        actor.answer(rewrite.response("Heartbeat", number, {"error_code": code}))
    assert [one.rules for one in actor.done] == [(), ("r",)]


def test_a_request_that_is_dropped_waits_for_no_answer() -> None:
    actor = registered(ruled("api: Ping, direction: request", "{drop: {selective: true}}"))
    actor.answer(central.request("Ping"))
    actor.answer(central.request("StopFetcher"))
    actor.ask(central.response("StopFetcher", body=OFFSETS))
    assert [(one.api, one.note) for one in actor.done[1:]] == [
        ("Ping", "request not forwarded: by a rule"),
        ("StopFetcher", ""),
    ]


def test_where_sees_the_drafts_fields() -> None:
    scenario = """
version: 1
dialect: rewrite-0.8.2
rules:
  - name: r
    match: {api: JoinGroup, direction: response}
    where: "group_generation_id == `3`"
    do: close
"""
    actor = Stage(scenario).actor()
    fields = {"session_timeout": 900, "topics": ["t"], "partition_assignment_strategy": "range"}
    for number, generation in ((1, 2), (2, 3)):
        body: dict[str, Any] = {"group_id": "g", "consumer_id": "", **fields}
        actor.ask(rewrite.request("JoinGroup", number, "me", body))
        answer = {"group_generation_id": generation, "consumer_id": "x", "assigned_partitions": []}
        actor.answer(rewrite.response("JoinGroup", number, {"error_code": 0, **answer}))
    assert actor.aborted
    assert len(actor.frames("response")) == 1
    assert actor.done[0].response is not None
    assert actor.done[0].response["group_generation_id"] == 2


def test_kafkas_own_beside_the_rewrite_and_its_errors_by_name() -> None:
    actor = Stage("version: 1\ndialect: rewrite-0.8.2\nrules: []\n").actor()
    actor.ask(rewrite.request("Metadata", 1, "me", {"topics": []}))
    beat = {"group_id": "g", "group_generation_id": 1, "consumer_id": "x"}
    actor.ask(rewrite.request("Heartbeat", 2, "me", beat))
    actor.answer(rewrite.response("Metadata", 1, {"brokers": [], "topics": []}))
    actor.answer(rewrite.response("Heartbeat", 2, {"error_code": 25}))
    assert [(one.api, one.key < 100, one.error) for one in actor.done] == [
        ("Metadata", True, ""),
        ("Heartbeat", False, "UnknownConsumerId"),
    ]
    assert actor.done[1].request == beat


@pytest.mark.parametrize("chunks", [whole, bytewise])
def test_records_of_0_8_stand_beside_central_coordination(chunks: Chunks) -> None:
    actor = Stage(ruled("api: Fetch, direction: response", "{delay: 50ms}")).actor()
    client = Dialogue("me")
    told = {"node_id": 1, "host": "real", "port": 9092}
    actor.ask(client.ask(METADATA_KEY, 0, {"topics": []}), chunks)
    actor.answer(answer(METADATA_KEY, 0, {"brokers": [told], "topics": []}), chunks)
    actor.ask(client.ask(PRODUCE, 0, produce({}, 0, 1, "none"), answered=False), chunks)
    actor.ask(
        client.ask(FETCH, 0, fetch({("t", 0): 5}, max_wait_ms=1, min_bytes=1, max_bytes=9)), chunks
    )
    actor.answer(answer(FETCH, 2, {"responses": []}), chunks)
    actor.stage.wait(50)
    client.feed(b"".join(actor.frames("response")))
    first, second = client.answers()
    assert (first.body["brokers"][0]["host"], second.body) == ("proxy", {"responses": []})
    assert [(one.api, one.client_id, one.note, one.rules) for one in actor.done] == [
        ("Metadata", "me", "", ()),
        ("Produce", "me", "no response (acks=0)", ()),
        ("Fetch", "me", "", ("r",)),
    ]
    assert not actor.said


def test_what_nobody_can_read_passes_and_is_said() -> None:
    actor = registered()
    actor.ask(raw(b"\x00\x00"))  # an answer to nothing
    actor.answer(raw(b"?!"))
    assert actor.frames("request")[1:] == [raw(b"\x00\x00")]
    assert actor.frames("response")[1:] == [raw(b"?!")]
    assert len(actor.said) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dialect: klingon\nrules: []", "no dialect is called 'klingon'; choose one of: central"),
        (
            "dialect: central-coordination\nrules: [{name: r, match: {api: SyncGroup}, do: close}]",
            "no API of central-coordination is called 'SyncGroup'",
        ),
        (
            "dialect: central-coordination\n"
            "rules: [{name: r, match: {api: Ping}, do: {respond: {error: UNKNOWN_SERVER_ERROR}}}]",
            "respond applies to Kafka's own protocol",
        ),
        (
            "dialect: rewrite-0.8.2\nrules: [{name: r, match: {api: JoinGroup}, do: duplicate}]",
            "duplicate applies to Kafka's own protocol",
        ),
        (
            "dialect: rewrite-0.8.2\n"
            'rules: [{name: r, match: {api: JoinGroup}, where: "protocols", do: close}]',
            "protocols",
        ),
    ],
)
def test_what_can_not_be_said_of_a_draft(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError, match=problem):
        loads(f"version: 1\n{text}\n")
