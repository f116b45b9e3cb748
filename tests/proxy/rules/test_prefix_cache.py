"""Requests that a rule is about, by the beginning of their body: what is not meant passes as it comes."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.rules.prefix_cache import MAX_PREFIX
from tests.proxy.connection.test_header_walk import chunks_forwarded, in_slices
from tests.proxy.frames import heartbeat_request, request, response, whole
from tests.proxy.playbook import Actor, Stage, ruled

RULES = """
version: 1
rules:
- {name: slow, match: {api: Produce, direction: request}, where: "timeout_ms == `7`", do: {delay: 50ms}}
- {name: another client's, match: {api: Heartbeat, direction: request, client_id: "other-*"},
   do: {delay: 50ms}}
"""


def produce(number: int, *, timeout: int = 1, acks: int = 1, client: str = "me") -> bytes:
    topics: list[dict[str, Any]] = [{"name": "t" * 20_000, "partition_data": []}]
    values = {"acks": acks, "timeout_ms": timeout, "topic_data": topics}
    return request("Produce", number, version=9, client=client, **values)


def warm(rules: str = RULES) -> Actor:
    """Return a connection on which one request of each kind has passed."""
    actor = Stage(rules, observed=False).actor()
    actor.ask(produce(0) + heartbeat_request(1))
    actor.answer(response("Produce", 0, version=9) + response("Heartbeat", 1))
    return actor


def test_what_no_rule_is_about_passes_in_the_pieces_that_it_comes_in() -> None:
    actor = warm()
    frames = produce(2) + heartbeat_request(3) + produce(4)
    cut = len(produce(2)) - 500
    for piece in (frames[:100], frames[100:cut], frames[cut:]):
        assert chunks_forwarded(actor, "request", piece)
    assert actor.waiting == [2, 3, 4]


def test_without_a_rule_produce_passes_by_its_beginning_too() -> None:
    actor = warm("")
    assert chunks_forwarded(actor, "request", produce(2) + produce(3))
    actor.ask(produce(4, acks=0))
    assert actor.waiting == [2, 3]


def test_other_rules_look_again_at_what_was_familiar() -> None:
    actor = warm()
    actor.stage.replace(RULES.replace("`7`", "`1`"))
    actor.ask(produce(2))
    assert actor.ids("request") == [0, 1]
    actor.stage.wait(50)
    assert actor.ids("request") == [0, 1, 2]


def test_a_frame_that_is_shorter_than_its_beginning_is_not_familiar() -> None:
    actor = warm("")
    actor.ask(struct.pack(">i", 13) + produce(2)[4:20])  # acks would stand in the next frame
    assert [pending.opaque for pending in actor.connection.state.pairing.waiting] == [True]
    assert actor.stage.totals.undecoded == 1


@pytest.mark.parametrize(
    "where",
    [
        "topic_data[0].name == 'x'",  # behind what is looked at
        "length(acks) == `1`",  # can't be decided
        "@",  # may be about anything
    ],
)
def test_what_the_beginning_does_not_decide_is_decided_on_the_whole(where: str) -> None:
    rules = RULES.replace("timeout_ms == `7`", where)
    actor = Stage(rules, observed=False).actor()
    actor.ask(produce(0) + heartbeat_request(1))
    actor.stage.wait(50)
    frame = produce(2)
    actor.ask(frame[:-1])
    assert actor.ids("request") == [0, 1]
    actor.ask(frame[-1:])
    rule = actor.stage.rules.rule("slow")
    assert rule.matched + rule.unclear == (0 if "topic_data" in where else 2)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.sampled_from((1, 7)),
            st.sampled_from(("me", "other-1")),
            st.booleans(),
        ),
        max_size=12,
    ),
    st.lists(st.integers(100, 30_000), min_size=1, max_size=4),
)
def test_the_rules_decide_the_same_in_any_slices(
    kinds: list[tuple[int, int, str, bool]], steps: list[int]
) -> None:
    frames = [
        heartbeat_request(number, client=client)
        if beats
        else produce(number, acks=acks, timeout=timeout, client=client)
        for number, (acks, timeout, client, beats) in enumerate(kinds)
    ]
    results = []
    for observed, chunks in ((True, whole), (False, whole), (False, in_slices(steps))):
        actor = Stage(RULES, observed=observed).actor()
        actor.ask(b"".join(frames), chunks)
        actor.stage.wait(100)
        fired = [rule.fired for rule in actor.stage.rules.rules]
        results.append((actor.sent["request"], fired, actor.waiting, actor.stage.tally.rows()))
    assert results[0][0] == b"".join(frames)
    assert results[0] == results[1] == results[2]


def test_a_condition_that_names_no_field_holds_of_every_request() -> None:
    actor = ruled("close", "{direction: request}", "where: '`1`'", observed=False)
    actor.ask(heartbeat_request(1))
    assert actor.aborted


def test_what_a_very_long_request_begins_with_is_not_remembered() -> None:
    for client, remembered in (("a" * 100, 1), ("a" * MAX_PREFIX, 0)):
        actor = ruled("close", "{api: Heartbeat, client_id: x}", observed=False)
        for number in range(2):
            actor.ask(heartbeat_request(number, client=client))
        assert len(actor.connection.state.known_prefixes) == remembered
