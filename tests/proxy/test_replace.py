"""Rules replaced while frames are under way, case by case, on a virtual clock."""

from __future__ import annotations

import pytest

from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from tests.proxy.playbook import (
    MS,
    START,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)


def scenario(*rules: str) -> str:
    return "version: 1\nseed: 7\nrules:\n" + "".join(f"  - {rule}\n" for rule in rules)


def rule(name: str, do: str, match: str = "{api: Heartbeat, direction: request}") -> str:
    return f"{{name: {name}, match: {match}, do: {do}}}"


def leave(number: int) -> bytes:
    return request("LeaveGroup", number, group_id="g", member_id="m")


UNTIL_JOIN = "{hold: {until: {api: JoinGroup}, at_most: 5s}}"
HOLD = rule("hold", UNTIL_JOIN)
DELAY = rule("delay", "{delay: 50ms}")
SHUFFLE = rule("shuffle", "{reorder: {swap: 3, at_most: 5s}}")
DROP = rule("drop", "drop")
OTHER = rule("other", "{delay: 1ms}", "{api: Fetch}")
EMPTY = scenario().replace("rules:", "rules: []")

# what a rule holds back leaves when the rule goes


@slicings
def test_held_frames_leave_in_order_before_those_that_follow(chunks: Chunks) -> None:
    stage = Stage(scenario(HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2) + heartbeat_request(3), chunks)
    assert actor.ids("request") == [2]
    stage.replace(EMPTY)
    actor.ask(heartbeat_request(4), chunks)
    assert actor.ids("request") == [2, 1, 3, 4]
    assert actor.connection.state.queues["request"].bytes == 0


def test_delayed_frames_leave_at_once_and_in_order() -> None:
    stage = Stage(scenario(DELAY))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2) + heartbeat_request(3))
    assert actor.ids("request") == []
    stage.wait(10)
    stage.replace(EMPTY)
    assert actor.ids("request") == [1, 2, 3]
    assert {at for at, _ in actor.times["request"]} == {10.0}
    assert actor.connection.wake is None


def test_a_window_that_was_filling_is_opened_in_the_order_of_arrival() -> None:
    stage = Stage(scenario(SHUFFLE))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    assert actor.ids("request") == []
    stage.replace(EMPTY)
    assert actor.ids("request") == [1, 2]
    assert actor.connection.state.queues["request"].bytes == 0


def test_frames_of_all_kinds_of_rules_leave_in_the_order_of_arrival() -> None:
    leaving = rule("delay", "{delay: 1s}", "{api: LeaveGroup}")
    stage = Stage(scenario(HOLD, leaving))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2) + heartbeat_request(3) + leave(4))
    stage.replace(EMPTY)
    assert actor.ids("request") == [1, 2, 3, 4]


def test_responses_too() -> None:
    held = rule("r", "{delay: 1s}", "{api: Heartbeat, direction: response}")
    stage = Stage(scenario(held))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    actor.answer(heartbeat_response(1) + heartbeat_response(2))
    assert actor.ids("response") == []
    stage.replace(EMPTY)
    assert actor.ids("response") == [1, 2]
    assert [exchange.rules for exchange in actor.done] == [("r",), ("r",)]


def test_a_frame_keeps_the_time_that_a_rule_gave_it_that_stays() -> None:
    stage = Stage(scenario(DELAY, HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(scenario(DELAY))
    assert actor.ids("request") == []
    stage.wait(50)
    assert actor.times["request"][0][0] == 50.0


def test_a_rule_that_stays_goes_on_holding_and_is_still_woken_by_what_it_waits_for() -> None:
    stage = Stage(scenario(HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(scenario(OTHER, HOLD))
    assert actor.ids("request") == []
    assert len(stage.shared._waiting) == 1
    actor.ask(request("JoinGroup", 2, group_id="g", protocols=[]))
    assert actor.ids("request") == [2, 1]
    assert stage.rules.rule("hold").released == 1


def test_a_held_frame_still_ends_at_its_deadline_after_other_rules_changed() -> None:
    stage = Stage(scenario(HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.wait(1000)
    stage.replace(scenario(HOLD, OTHER))
    stage.wait(3999)
    assert actor.ids("request") == []
    stage.wait(1)
    assert actor.ids("request") == [1]
    assert stage.rules.rule("hold").expired == 1


def test_a_rule_with_other_settings_is_another_one_under_the_same_name() -> None:
    stage = Stage(scenario(HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(scenario(HOLD.replace("5s", "6s")))
    assert actor.ids("request") == [1]
    assert stage.rules.rule("hold").matched == 0


def test_a_connection_that_a_rule_was_to_close_behind_a_frame_stays() -> None:
    late = rule("late", "[{delay: 50ms}, {close: {forward: true}}]")
    stage = Stage(scenario(late))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(EMPTY)
    assert actor.ids("request") == [1]
    assert not actor.aborted


def test_behind_a_dropped_message_nothing_leaves_though_its_rule_is_gone() -> None:
    stage = Stage(scenario(DROP))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(EMPTY)
    actor.ask(leave(2))
    assert actor.sent["request"] == b""
    assert [exchange.note for exchange in actor.done] == [
        "request dropped by a rule",
        "request lost behind a dropped one",
    ]


def test_what_waited_on_another_connection_leaves_too() -> None:
    until = "{api: Heartbeat, direction: request, same: any}"
    wait = rule("wait", f"{{hold: {{until: {until}, at_most: 5s}}}}", "{api: LeaveGroup}")
    stage = Stage(scenario(HOLD, wait))
    one, two = stage.actor(), stage.actor()
    two.ask(leave(1))
    one.ask(heartbeat_request(2))
    assert one.ids("request") == two.ids("request") == []
    stage.replace(scenario(wait))
    assert one.ids("request") == [2]
    assert two.ids("request") == [1]
    assert stage.rules.rule("wait").released == 1


def test_a_frame_under_way_is_finished_before_what_is_let_go() -> None:
    stage = Stage(scenario(HOLD), observed=False)
    actor = stage.actor()
    join = request("DescribeGroups", 2, groups=["g" * 100])
    actor.ask(heartbeat_request(1))
    actor.ask(join[:50])
    stage.replace(EMPTY)
    actor.ask(join[50:])
    assert sorted(actor.ids("request")) == [1, 2]


# counters


def test_rules_that_stay_go_on_counting_and_those_that_go_begin_anew() -> None:
    once = "{name: once, match: {api: Heartbeat}, when: {times: 1}, do: {delay: 1ms}}"
    twice = once.replace("once", "twice").replace("times: 1", "skip: 1")
    stage = Stage(scenario(once, twice))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    before = stage.rules.rule("once")
    stage.replace(scenario(OTHER, once))
    assert stage.rules.rule("once") is before
    actor.ask(heartbeat_request(2))
    assert (before.matched, before.fired) == (2, 1)
    stage.replace(scenario(once, twice))
    actor.ask(heartbeat_request(3))
    again = stage.rules.rule("twice")
    assert (again.matched, again.fired) == (1, 0), "its skip began anew"
    stage.replace(EMPTY)
    stage.replace(scenario(once))
    actor.ask(heartbeat_request(4))
    assert stage.rules.rule("once").fired == 1, "on this connection too"


def test_a_rule_that_is_told_to_fire_does_so_once_whatever_its_when_says() -> None:
    never = "{name: n, match: {api: Heartbeat}, when: {skip: 100, probability: 0}, do: {delay: 1s}}"
    stage = Stage(scenario(never))
    actor = stage.actor()
    stage.rules.rule("n").forced += 1
    actor.ask(heartbeat_request(1))
    stage.wait(1000)
    actor.ask(heartbeat_request(2))
    assert actor.ids("request") == [1, 2]
    assert stage.rules.rule("n").fired == 1
    assert stage.rules.rule("n").forced == 0


# the order of responses


def test_responses_are_put_in_order_though_the_rule_that_mixed_the_requests_is_gone() -> None:
    stage = Stage(scenario(SHUFFLE.replace("swap: 3", "swap: 1"), OTHER), observed=False)
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2) + heartbeat_request(3))
    first = actor.ids("request")
    assert first != sorted(first)
    stage.replace(scenario(OTHER))
    actor.ask(heartbeat_request(4))
    assert sorted(actor.ids("request")) == [1, 2, 3, 4]
    for number in actor.ids("request"):
        actor.answer(
            response("LeaveGroup", 2, error_code=0) if number == 2 else heartbeat_response(number)
        )
    assert actor.ids("response") == [1, 2, 3, 4]
    assert not actor.stage.totals.undecoded
    assert not actor.connection.dispatch.order.expected


def test_requests_under_way_are_answered_first_when_a_rule_begins_to_mix() -> None:
    stage = Stage(EMPTY)
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    stage.replace(scenario(HOLD))
    actor.ask(heartbeat_request(3) + leave(4))
    assert actor.ids("request") == [1, 2, 4]
    actor.answer(
        heartbeat_response(1) + heartbeat_response(2) + response("LeaveGroup", 4, error_code=0)
    )
    assert actor.ids("response") == [1, 2], "4 waits for 3, which is held"
    stage.wait(5000)
    actor.answer(heartbeat_response(3))
    assert actor.ids("response") == [1, 2, 3, 4]


def test_requests_that_are_delayed_are_expected_too_when_a_rule_begins_to_mix() -> None:
    stage = Stage(scenario(DELAY))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    match = "{api: LeaveGroup, direction: request}"
    stage.replace(scenario(DELAY, rule("hold", UNTIL_JOIN, match)))
    actor.ask(leave(2) + request("DescribeGroups", 3, groups=[]))
    stage.wait(5000)
    assert actor.ids("request") == [1, 3, 2]
    actor.answer(heartbeat_response(1) + response("DescribeGroups", 3, groups=[]))
    assert actor.ids("response") == [1]
    actor.answer(response("LeaveGroup", 2, error_code=0))
    assert actor.ids("response") == [1, 2, 3]


def test_what_a_rule_that_is_gone_decided_of_a_response_that_waits_for_its_turn_is_off() -> None:
    slow = rule("slow", "{delay: 1s}", "{api: LeaveGroup, direction: response}")
    stage = Stage(scenario(HOLD, slow))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2))
    actor.answer(response("LeaveGroup", 2, error_code=0))
    assert actor.ids("response") == []
    stage.replace(EMPTY)
    actor.answer(heartbeat_response(1))
    assert actor.ids("response") == [1, 2]
    assert actor.times["response"][-1][0] == 0.0


def test_a_request_that_is_expected_already_is_not_expected_twice() -> None:
    stage = Stage(scenario(SHUFFLE))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    stage.replace(EMPTY)
    stage.replace(scenario(SHUFFLE))
    actor.answer(heartbeat_response(1))
    assert actor.ids("response") == [1]
    assert not actor.connection.dispatch.order.expected


# reading only as much as is needed


def test_messages_are_skimmed_again_when_the_last_rule_about_them_is_gone() -> None:
    stage = Stage(scenario(HOLD), observed=False)
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + leave(2))
    assert not any(actor.connection._walk.values())
    stage.replace(EMPTY)
    actor.answer(
        response("LeaveGroup", 2, error_code=0) + heartbeat_response(1)
    )  # their order was to be kept
    assert actor.ids("response") == [1, 2]
    assert all(actor.connection._walk.values())
    actor.ask(leave(3))
    actor.answer(response("LeaveGroup", 3, error_code=0))
    assert [row.count for row in stage.tally.rows()] == [2, 1]


def test_messages_that_were_skimmed_meet_a_rule_that_is_added() -> None:
    stage = Stage(EMPTY, observed=False)
    actor = stage.actor()
    for number in range(3):
        actor.ask(heartbeat_request(number))
    stage.replace(scenario(DELAY))
    actor.ask(heartbeat_request(3))
    assert actor.ids("request") == [0, 1, 2]
    stage.wait(50)
    assert actor.ids("request") == [0, 1, 2, 3]


@pytest.mark.parametrize("cut", range(1, 60, 7))
@slicings
def test_observing_begins_and_ends_anywhere_in_a_frame(cut: int, chunks: Chunks) -> None:
    stage = Stage(EMPTY, observed=False)
    actor = stage.actor()
    asked = b"".join(heartbeat_request(number) for number in range(4))
    answered = b"".join(heartbeat_response(number) for number in range(4))
    for wanted, part in enumerate((asked[:cut], asked[cut : cut + 40], asked[cut + 40 :])):
        actor.ask(part, chunks)
        stage.observe(wanted == 0)
    half = cut // 2
    actor.answer(answered[:half], chunks)
    stage.observe(True)
    actor.answer(answered[half:], chunks)
    assert actor.sent["request"] == asked
    assert actor.sent["response"] == answered
    assert [row.count for row in stage.tally.rows()] == [4], "each is counted once"
    assert not stage.totals.undecoded
    assert actor.connection.idle


def test_no_copy_of_a_frame_is_kept_when_nobody_looks_any_longer() -> None:
    stage = Stage(EMPTY)
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2)[:20])
    assert actor.connection.state.ingress["request"].copy
    stage.observe(False)
    assert actor.connection.state.ingress["request"].copy is None


def test_exchanges_are_reported_while_somebody_looks() -> None:
    stage = Stage(EMPTY, observed=False)
    actor = stage.actor()
    for number, wanted in ((1, False), (2, True), (3, False)):
        stage.observe(wanted)
        actor.ask(heartbeat_request(number))
        actor.answer(heartbeat_response(number))
    assert [exchange.correlation_id for exchange in actor.done] == [2]
    assert actor.done[0].request is not None


def test_rules_of_a_connection_that_is_over_change_nothing() -> None:
    stage = Stage(scenario(HOLD))
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    actor.close()
    assert actor.connection.replace(stage.plan, stage.now) == ()


@pytest.mark.parametrize("per", ["connection", "client", "broker", "rule"])
def test_a_faster_line_under_the_same_name_does_not_wait_for_the_slow_one(per: str) -> None:
    def throttled(rate: int) -> str:
        return scenario(rule("r", f"{{throttle: {{messages: {rate}, per: {per}}}}}"))

    stage = Stage(throttled(1))
    actor = stage.actor()
    for number in range(200):
        actor.ask(heartbeat_request(number))
    stage.replace(throttled(1000))
    assert len(actor.ids("request")) == 200
    begun = (stage.now - START) / MS
    actor.ask(heartbeat_request(200))
    stage.wait(1000)
    assert [at - begun for at, _ in actor.times["request"]][-1] == 1


def test_a_line_of_a_rule_that_stays_stays_as_busy_as_it_was() -> None:
    slow = rule("r", "{throttle: {messages: 1}}")
    stage = Stage(scenario(slow))
    actor = stage.actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2))
    stage.replace(scenario(slow, rule("s", "{delay: 1ms}", "{api: Fetch}")))
    actor.ask(heartbeat_request(3))
    stage.wait(10_000)
    assert [at for at, _ in actor.times["request"]] == [1000, 2000, 3000]


def test_attempts_to_connect_are_counted_anew_for_another_rule_of_the_same_name() -> None:
    def refused(do: str) -> str:
        return (
            f"version: 1\nrules: [{{name: r, match: {{broker: 1}}, when: {{times: 1}}, do: {do}}}]"
        )

    rules = Rules(loads(refused("{refuse: {how: reset}}")))
    assert [rules.connecting(1, number, START) is None for number in (0, 1)] == [False, True]
    rules = Rules(loads(refused("{refuse: {how: reset}}")), rules)
    assert rules.connecting(1, 2, START) is None
    rules = Rules(loads(refused("{refuse: {how: close}}")), rules)
    assert rules.connecting(1, 3, START) is not None
