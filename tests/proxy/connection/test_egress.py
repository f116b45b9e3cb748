"""The order in which frames leave, when some wait, some are lost, and some can't be read."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.proxy.playbook import (
    MS,
    START,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
)

HEARTBEAT: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}

UNREADABLE = raw(struct.pack(">hhih", 12, 1, 9, 7))
CUT_OFF = raw(b"\0\x0c\0")
NEWER_API_VERSIONS = raw(struct.pack(">hhih", 18, 77, 5, 2) + b"me\0newer fields")


def rules(*lines: str) -> str:
    """A scenario of rules named a, b, c, ..."""
    named = [f"  - {{name: {chr(97 + n)}, {line}}}\n" for n, line in enumerate(lines)]
    return "version: 1\nseed: 7\nrules:\n" + "".join(named)


def groups(number: int) -> bytes:
    return request("ListGroups", number, version=0)


def leave(number: int) -> bytes:
    return request("LeaveGroup", number, group_id="g", member_id="m")


DELAYED = "match: {api: Heartbeat, direction: request}, do: {delay: 100ms}"
LATE_ANSWER = "match: {api: Heartbeat, direction: response}, do: {delay: 100ms}"
REPLIED = "match: {api: LeaveGroup}, do: {respond: {error: UNKNOWN_MEMBER_ID}}"
DROPPED = "match: {api: ListGroups, direction: request}, do: drop"


# nothing overtakes a delayed frame


@pytest.mark.parametrize("odd", [UNREADABLE, CUT_OFF, raw(b"")])
@slicings
def test_a_request_that_can_not_be_read_stays_behind_a_delayed_one(
    odd: bytes, chunks: Chunks
) -> None:
    stage = Stage(rules(DELAYED))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + odd + groups(3), chunks)
    assert actor.sent["request"] == b""
    stage.wait(100)
    assert actor.sent["request"] == heartbeat_request(1) + odd + groups(3)
    assert stage.totals.undecoded == 1
    actor.answer(
        heartbeat_response(1) + raw(b"who knows") + response("ListGroups", 3, version=0), chunks
    )
    assert [x.correlation_id for x in actor.done] == [1, 0, 3]
    assert actor.connection.idle


@pytest.mark.parametrize("odd", [raw(b"\0\0"), raw(b"")])
@slicings
def test_a_response_that_cannot_be_read_stays_behind_a_delayed_one(
    odd: bytes, chunks: Chunks
) -> None:
    stage = Stage(rules(LATE_ANSWER))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + groups(2))
    last = response("ListGroups", 2, version=0)
    actor.answer(heartbeat_response(1) + odd + last, chunks)
    assert actor.sent["response"] == b""
    stage.wait(100)
    assert actor.sent["response"] == heartbeat_response(1) + odd + last
    assert stage.totals.undecoded == 1


@slicings
def test_a_raw_token_stays_behind_a_delayed_handshake(chunks: Chunks) -> None:
    stage = Stage(rules("match: {api: SaslHandshake, direction: request}, do: {delay: 10ms}"))
    actor = stage.actor()
    handshake = request("SaslHandshake", 1, version=0, mechanism="PLAIN")
    actor.ask(handshake + raw(b"\0user\0secret"), chunks)
    assert actor.sent["request"] == b""
    stage.wait(10)
    assert actor.sent["request"] == handshake + raw(b"\0user\0secret")


@pytest.mark.parametrize("token", [bytes.fromhex("602a06092a864886f712"), b"\xff" * 12, b""])
@slicings
def test_raw_tokens_of_any_bytes_are_no_trouble(token: bytes, chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(request("SaslHandshake", 1, version=0, mechanism="GSSAPI"), chunks)
    actor.answer(response("SaslHandshake", 1, version=0), chunks)
    for _ in range(2):
        actor.ask(raw(token), chunks)
        actor.answer(raw(token), chunks)
    assert [x.api for x in actor.done] == ["SaslHandshake", "SASL token", "SASL token"]
    assert [x.note for x in actor.done] == [""] * 3
    assert actor.stage.totals.undecoded == 0


def test_a_rule_about_any_api_is_about_unknown_ones_too() -> None:
    late = "match: {direction: response}, do: {delay: 20ms}"
    stage = Stage(rules(late))
    actor = stage.actor()
    actor.ask(raw(struct.pack(">hhih", 999, 7, 5, -1)))
    answer = raw(struct.pack(">i", 5) + b"who knows")
    actor.answer(answer)
    stage.wait(20)
    assert actor.times["response"] == [(20.0, answer)]
    assert actor.done[0].rules == ("a",)


@slicings
def test_the_proxys_own_answer_waits_for_requests_that_are_delayed(chunks: Chunks) -> None:
    stage = Stage(rules(DELAYED, REPLIED))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2) + groups(3), chunks)
    assert actor.sent["response"] == b""
    stage.wait(100)
    assert actor.ids("request") == [1, 3]
    actor.answer(heartbeat_response(1) + response("ListGroups", 3, version=0), chunks)
    assert actor.ids("response") == [1, 2, 3]
    assert [x.correlation_id for x in actor.done] == [1, 2, 3]
    assert actor.connection.idle


def test_nothing_wakes_up_for_a_frame_that_another_one_blocks() -> None:
    stage = Stage(rules(REPLIED))
    actor = stage.actor()
    actor.ask(groups(1) + leave(2))
    answer = response("ListGroups", 1, version=0)
    actor.answer(answer[:-1])  # our own answer is due, in the middle of this one
    assert actor.connection.wake is None
    actor.answer(answer[-1:])
    assert actor.ids("response") == [1, 2]


ODD = (UNREADABLE, CUT_OFF, raw(b""), raw(struct.pack(">hhih", 999, 7, 5, -1)))


@settings(max_examples=80)
@given(
    st.lists(
        st.sampled_from((heartbeat_request(1), groups(2), request("Metadata", 3), *ODD)),
        max_size=15,
    ),
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.booleans(),
)
def test_delays_never_change_the_bytes(
    frames: list[bytes], steps: list[int], observed: bool
) -> None:
    jitter = "match: {api: Heartbeat}, do: {delay: {by: 30ms, jitter: 30ms}}"
    stage = Stage(rules(jitter, "match: {direction: request}, do: {delay: 5ms}"), observed=observed)
    actor, data, at, turn = stage.actor(), b"".join(frames), 0, 0
    while at < len(data):
        step = steps[turn % len(steps)]
        actor.ask(data[at : at + step])
        stage.wait(turn % 3)
        at, turn = at + step, turn + 1
    actor.end("request")
    stage.wait(1000)
    assert actor.sent["request"] == data
    assert actor.finished == ["request"]
    assert len(actor.connection.state.pairing.waiting) == len(frames)


# nothing behind a lost one leaves; what is before it does


@slicings
def test_what_was_delayed_before_a_dropped_request_still_leaves(chunks: Chunks) -> None:
    stage = Stage(rules(DELAYED, DROPPED))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + groups(2) + heartbeat_request(3), chunks)
    stage.wait(50)
    actor.ask(request("Metadata", 4), chunks)
    stage.wait(200)
    assert actor.times["request"] == [(100.0, heartbeat_request(1))]
    actor.answer(heartbeat_response(1))
    notes = {x.correlation_id: x.note for x in actor.done}
    assert notes == {
        1: "",
        2: "request dropped by a rule",
        3: "request lost behind a dropped one",
        4: "request lost behind a dropped one",
    }
    actor.end("request")
    assert actor.finished == ["request"]


def test_what_is_held_when_another_is_dropped_would_leave_behind_it() -> None:
    held = "match: {api: Heartbeat}, do: {hold: {until: {api: JoinGroup}, at_most: 1s}}"
    stage = Stage(rules(held, DROPPED))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + groups(2))
    stage.wait(2000)
    assert actor.sent["request"] == b""
    assert [x.note for x in actor.done] == [
        "request dropped by a rule",
        "request lost behind a dropped one",
    ]


@pytest.mark.parametrize("odd", [UNREADABLE, CUT_OFF, NEWER_API_VERSIONS])
@slicings
def test_whatever_comes_behind_a_dropped_request_is_lost(odd: bytes, chunks: Chunks) -> None:
    actor = Stage(rules(DROPPED)).actor()
    actor.ask(heartbeat_request(1) + groups(2) + odd, chunks)
    actor.answer(heartbeat_response(1))
    assert actor.sent["request"] == heartbeat_request(1)
    assert actor.sent["response"] == heartbeat_response(1)
    assert actor.done[1].note.endswith("request lost behind a dropped one")
    assert actor.connection.idle


@pytest.mark.parametrize("odd", [raw(b"\0\0"), heartbeat_response(99)])
def test_whatever_comes_behind_a_dropped_response_is_lost(odd: bytes) -> None:
    dropped = "match: {api: ListGroups, direction: response}, do: drop"
    actor = Stage(rules(dropped)).actor()
    actor.ask(heartbeat_request(1) + groups(2))
    actor.answer(heartbeat_response(1) + response("ListGroups", 2, version=0) + odd)
    assert actor.sent["response"] == heartbeat_response(1)


# what stands aside comes back where it came from


def test_what_is_released_leaves_before_what_came_after_it() -> None:
    held = (
        "match: {api: OffsetCommit}, do: {hold: {until: {api: JoinGroup, direction: request}, "
        "at_most: 1s}}"
    )
    slow = "match: {api: [JoinGroup, Heartbeat], direction: request}, do: {delay: 50ms}"
    slower = "match: {api: Heartbeat, direction: request}, do: {delay: 9s}"
    stage = Stage(rules(held, slow, slower))
    actor = stage.actor()
    actor.ask(request("OffsetCommit", 1, version=2, group_id="g"))
    actor.ask(request("JoinGroup", 2, version=2, group_id="g") + heartbeat_request(3))
    stage.wait(60)
    assert actor.ids("request") == [2, 1]
    stage.wait(10_000)
    assert actor.ids("request") == [2, 1, 3]


def test_a_hold_never_lasts_longer_than_it_may() -> None:
    held = "match: {api: OffsetCommit}, do: {hold: {until: {api: JoinGroup}, at_most: 1s}}"
    slow = "match: {api: Heartbeat, direction: request}, do: {delay: 9s}"
    stage = Stage(rules(held, slow))
    actor = stage.actor()
    actor.ask(request("OffsetCommit", 1, version=2, group_id="g") + heartbeat_request(2))
    stage.wait(10_000)
    assert [at for at, _ in actor.times["request"]] == [1000.0, 9000.0]


def test_swap_lets_just_that_many_pass_even_if_they_are_late() -> None:
    swapped = "match: {api: ListGroups}, do: {reorder: {swap: 1, at_most: 1s}}"
    slow = "match: {api: Heartbeat, direction: request}, do: {delay: 20ms}"
    stage = Stage(rules(swapped, slow))
    actor = stage.actor()
    actor.ask(groups(1) + heartbeat_request(2) + heartbeat_request(3))
    stage.wait(20)
    assert actor.ids("request") == [2, 1, 3]


def test_what_is_released_still_waits_behind_what_came_before_it() -> None:
    slow = "match: {api: Heartbeat, direction: request}, do: {delay: 500ms}"
    held = "match: {api: OffsetCommit}, do: {hold: {until: {api: JoinGroup}, at_most: 100ms}}"
    stage = Stage(rules(slow, held))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + request("OffsetCommit", 2, version=2, group_id="g"))
    stage.wait(600)
    assert actor.times["request"][0][0] == 500.0
    assert actor.ids("request") == [1, 2]


# early responses


def test_responses_that_wait_for_their_turn_stop_the_client() -> None:
    swapped = "match: {api: ListGroups, direction: request}, do: {reorder: {swap: 1}}"
    actor = Stage(rules(swapped), queued=3000).actor()
    actor.ask(groups(1) + heartbeat_request(2))
    assert not actor.connection.full("request")
    actor.answer(raw(struct.pack(">i", 2) + bytes(3000)))
    assert actor.sent["response"] == b""
    assert actor.connection.full("request")
    assert not actor.connection.full("response")  # what they wait for comes from there
    actor.answer(response("ListGroups", 1, version=0))
    assert actor.ids("response") == [1, 2]
    assert not actor.connection.full("request")


# the end


def test_no_answer_of_our_own_follows_the_brokers_end() -> None:
    actor = Stage(rules(REPLIED)).actor()
    actor.end("response")
    assert actor.finished == ["response"]
    actor.ask(leave(1))
    assert actor.sent["response"] == b""
    actor.close()
    assert [x.correlation_id for x in actor.done] == [1]


@pytest.mark.parametrize("version", [1, 12])  # passes in pieces; is collected for its addresses
@pytest.mark.parametrize("how", ["end", "close"])
@pytest.mark.parametrize("observed", [True, False])
def test_a_response_that_is_cut_off_is_accounted_for(
    version: int, how: str, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    if version == 1:
        actor.ask(groups(0))
        answer = response("ListGroups", 0, version=0)
    else:
        actor.ask(request("Metadata", 0, version=version))
        answer = response("Metadata", 0, version=version)
    actor.answer(answer[:9])
    if how == "end":
        actor.end("response")
        assert actor.sent["response"] == answer[:9]
    actor.close()
    assert [row.count for row in actor.stage.tally.rows()] == [1]
    if observed:
        who = "broker" if how == "end" else "connection"
        then = f"9 of {len(answer)} bytes, then the {who} closed"
        assert [x.note for x in actor.done] == [f"response cut off: {then}"]


@pytest.mark.parametrize("acks", [0, 1])
@pytest.mark.parametrize("how", ["end", "close"])
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("collects", [True, False])
def test_a_request_that_is_cut_off_is_accounted_for_once(
    acks: int, how: str, observed: bool, collects: bool
) -> None:
    rule = "[{name: r, match: {api: Produce, direction: request}, where: 'timeout_ms > `9`', do: close}]"
    stage = Stage(f"{{version: 1, rules: {rule}}}", observed=observed) if collects else None
    actor = (stage or Stage(observed=observed)).actor()
    asked = request("Produce", 7, version=3, acks=acks, timeout_ms=1, topic_data=[])
    actor.ask(asked)
    actor.ask(asked + asked[:-2])
    if how == "end":
        actor.end("request")
        assert actor.sent["request"] == asked * 2 + asked[:-2]
    actor.close()
    assert [row.count for row in actor.stage.tally.rows()] == [3]
    if observed:
        who = "client" if how == "end" else "connection"
        then = f"request cut off: {len(asked) - 2} of {len(asked)} bytes, then the {who} closed"
        assert [x.note.partition(";")[0] for x in actor.done].count(then) == 1


def test_idle_is_not_said_in_the_middle_of_a_response() -> None:
    actor = Stage().actor()
    actor.ask(groups(1))
    answer = response("ListGroups", 1, version=0)
    actor.answer(answer[:9])
    assert not actor.connection.idle
    actor.answer(answer[9:])
    assert actor.connection.idle


def test_the_wake_time_is_that_of_the_next_thing_that_is_due() -> None:
    slow = "match: {api: Heartbeat, direction: request}, do: {delay: 30ms}"
    held = "match: {api: OffsetCommit}, do: {hold: {until: {api: JoinGroup}, at_most: 20ms}}"
    stage = Stage(rules(slow, held))
    actor = stage.actor()

    def wake() -> int | None:
        return actor.connection.wake

    assert wake() is None
    actor.ask(heartbeat_request(1))
    assert wake() == START + 30 * MS
    actor.ask(request("OffsetCommit", 2, version=2, group_id="g"))
    assert wake() == START + 20 * MS
    assert actor.connection.tick(START + 20 * MS - 1) == []  # never early
    stage.wait(30)
    assert wake() is None
