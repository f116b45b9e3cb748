"""The order in which frames leave, when some wait, some are lost, and some can't be read."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.specs.frames import Direction
from tests.proxy.connection.test_header_walk import in_slices
from tests.proxy.frames import (
    groups_request,
    groups_response,
    heartbeat_request,
    leave_request,
    raw,
    request,
    response,
)
from tests.proxy.playbook import Stage, ruled

UNREADABLE = raw(struct.pack(">hhih", 12, 1, 9, 7))
CUT_OFF = raw(b"\0\x0c\0")
UNKNOWN = raw(struct.pack(">hhih", 999, 7, 5, -1))


def rules(*lines: str) -> str:
    """Return a scenario of rules named a, b, c, ..."""
    named = [f"  - {{name: {chr(97 + n)}, {line}}}\n" for n, line in enumerate(lines)]
    return "version: 1\nseed: 7\nrules:\n" + "".join(named)


REPLIED = "match: {api: LeaveGroup}, do: {respond: {error: UNKNOWN_MEMBER_ID}}"


# nothing overtakes a delayed frame


@pytest.mark.parametrize("body", [b"", b"who knows", b"\0newer"])
@pytest.mark.parametrize(("key", "version"), [(999, 7), (12, 99)])
def test_a_rule_about_any_api_is_about_unknown_ones_too(
    key: int, version: int, body: bytes
) -> None:
    actor = ruled("{delay: 20ms}", "{direction: response}")
    actor.ask(raw(struct.pack(">hhih", key, version, 5, -1)))
    answer = raw(struct.pack(">i", 5) + body)
    actor.answer(answer)
    actor.stage.wait(20)
    assert actor.times["response"] == [(20.0, answer)]
    assert (actor.done[0].rules, actor.done[0].response_body) == (("r",), body)


def test_nothing_wakes_up_for_a_frame_that_another_one_blocks() -> None:
    actor = Stage(rules(REPLIED)).actor()
    actor.ask(groups_request(1) + leave_request(2))
    actor.answer(groups_response(1)[:-1])  # our own answer is due, in the middle of this one
    assert actor.connection.wake is None
    assert not actor.connection.idle
    actor.answer(groups_response(1)[-1:])
    assert actor.ids("response") == [1, 2]
    assert actor.connection.idle


READABLE = (heartbeat_request(1), groups_request(2), request("Metadata", 3))
ODD = (UNREADABLE, CUT_OFF, raw(b""), UNKNOWN)


@given(
    st.lists(st.sampled_from(READABLE + ODD), max_size=15),
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.booleans(),
)
def test_delays_never_change_the_bytes(
    frames: list[bytes], steps: list[int], observed: bool
) -> None:
    jitter = "match: {api: Heartbeat}, do: {delay: {by: 30ms, jitter: 30ms}}"
    stage = Stage(rules(jitter, "match: {direction: request}, do: {delay: 5ms}"), observed=observed)
    actor, data = stage.actor(), b"".join(frames)
    for turn, piece in enumerate(in_slices(steps)(data)):
        actor.ask(piece)
        stage.wait(turn % 3)
    actor.end("request")
    stage.wait(1000)
    assert actor.sent["request"] == data
    assert actor.finished == ["request"]
    assert len(actor.waiting) == len(frames)


# nothing behind a lost one leaves; what is before it does


# early responses


def test_responses_that_wait_for_their_turn_stop_the_client() -> None:
    actor = ruled("{reorder: {swap: 1}}", "{api: ListGroups, direction: request}", queued=3000)
    actor.ask(groups_request(1) + heartbeat_request(2))
    assert not actor.connection.full("request")
    actor.answer(raw(struct.pack(">i", 2) + bytes(3000)))
    assert actor.sent["response"] == b""
    assert actor.connection.full("request")
    assert not actor.connection.full("response")  # what they wait for comes from there
    actor.answer(groups_response(1))
    assert actor.ids("response") == [1, 2]
    assert not actor.connection.full("request")


# the end


ENDS = pytest.mark.parametrize("how", ["end", "close"])
OBSERVED = pytest.mark.parametrize("observed", [True, False])


def end(actor_direction: Direction, how: str) -> str:
    """Return the side that ended a connection, as the log names it."""
    side = "client" if actor_direction == "request" else "broker"
    return side if how == "end" else "connection"


@pytest.mark.parametrize("version", [1, 12])  # passes in pieces; is collected for its addresses
@ENDS
@OBSERVED
def test_a_response_that_is_cut_off_is_accounted_for(
    version: int, how: str, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    name = "ListGroups" if version == 1 else "Metadata"
    actor.ask(request(name, 0, version=version))
    answer = response(name, 0, version=version)
    actor.answer(answer[:9])
    if how == "end":
        actor.end("response")
        assert actor.sent["response"] == answer[:9]
    actor.close()
    assert actor.counts == {name: 1}
    then = f"9 of {len(answer)} bytes, then the {end('response', how)} closed"
    assert [x.note for x in actor.done] == [f"response cut off: {then}"] * observed


@pytest.mark.parametrize("acks", [0, 1])
@ENDS
@OBSERVED
@pytest.mark.parametrize("collects", [True, False])
def test_a_request_that_is_cut_off_is_accounted_for_once(
    acks: int, how: str, observed: bool, collects: bool
) -> None:
    rule = "match: {api: Produce, direction: request}, where: 'timeout_ms > `9`', do: close"
    actor = Stage(rules(rule) if collects else "", observed=observed).actor()
    asked = request("Produce", 7, version=3, acks=acks, timeout_ms=1, topic_data=[])
    actor.ask(asked)
    actor.ask(asked + asked[:-2])
    if how == "end":
        actor.end("request")
        assert actor.sent["request"] == asked * 2 + asked[:-2]
    actor.close()
    assert actor.counts == {"Produce": 3}
    part = f"{len(asked) - 2} of {len(asked)} bytes, then the {end('request', how)} closed"
    notes = [x.note.partition(";")[0] for x in actor.done]
    assert notes.count(f"request cut off: {part}") == observed
