"""Rules replaced while frames are under way, case by case, on a virtual clock."""

from __future__ import annotations

import pytest

from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from tests.proxy.frames import heartbeat_request, request
from tests.proxy.playbook import MS, START, Actor, Stage, one_rule


def scenario(*rules: str) -> str:
    return "version: 1\nseed: 7\nrules:\n" + "".join(f"  - {rule}\n" for rule in rules)


def rule(name: str, do: str, match: str = "{api: Heartbeat, direction: request}") -> str:
    return f"{{name: {name}, match: {match}, do: {do}}}"


UNTIL_JOIN = "{hold: {until: {api: JoinGroup}, at_most: 5s}}"
HOLD = rule("hold", UNTIL_JOIN)
OTHER = rule("other", "{delay: 1ms}", "{api: Fetch}")
EMPTY = scenario().replace("rules:", "rules: []")

# what a rule holds back leaves when the rule goes


def playing(*rules: str, observed: bool = True) -> Actor:
    """Return a connection under some rules."""
    return Stage(scenario(*rules) if rules else EMPTY, observed=observed).actor()


def test_a_rule_with_other_settings_is_another_one_under_the_same_name() -> None:
    actor = playing(HOLD)
    actor.ask(heartbeat_request(1))
    actor.stage.replace(scenario(HOLD.replace("5s", "6s")))
    assert actor.ids("request") == [1]
    assert actor.stage.rules.rule("hold").matched == 0


def test_a_frame_under_way_is_finished_before_what_is_let_go() -> None:
    actor = playing(HOLD, observed=False)
    long = request("DescribeGroups", 2, groups=["g" * 100])
    actor.ask(heartbeat_request(1))
    actor.ask(long[:50])
    actor.stage.replace(EMPTY)
    actor.ask(long[50:])
    assert sorted(actor.ids("request")) == [1, 2]


# counters


def test_rules_that_stay_go_on_counting_and_those_that_go_begin_anew() -> None:
    once = "{name: once, match: {api: Heartbeat}, when: {times: 1}, do: {delay: 1ms}}"
    twice = once.replace("once", "twice").replace("times: 1", "skip: 1")
    actor = playing(once, twice)
    actor.ask(heartbeat_request(1))
    before = actor.stage.rules.rule("once")
    actor.stage.replace(scenario(OTHER, once))
    assert actor.stage.rules.rule("once") is before
    actor.ask(heartbeat_request(2))
    assert (before.matched, before.fired) == (2, 1)
    actor.stage.replace(scenario(once, twice))
    actor.ask(heartbeat_request(3))
    again = actor.stage.rules.rule("twice")
    assert (again.matched, again.fired) == (1, 0), "its skip began anew"
    actor.stage.replace(EMPTY)
    actor.stage.replace(scenario(once))
    actor.ask(heartbeat_request(4))
    assert actor.stage.rules.rule("once").fired == 1, "on this connection too"


# lines and attempts


def test_a_rule_that_is_told_to_fire_does_so_once_whatever_its_when_says() -> None:
    never = "{name: n, match: {api: Heartbeat}, when: {skip: 100, probability: 0}, do: {delay: 1s}}"
    actor = playing(never)
    actor.stage.rules.rule("n").forced += 1
    actor.ask(heartbeat_request(1))
    actor.stage.wait(1000)
    actor.ask(heartbeat_request(2))
    assert actor.ids("request") == [1, 2]
    assert actor.stage.rules.rule("n").fired == 1
    assert actor.stage.rules.rule("n").forced == 0


def test_rules_of_a_connection_that_is_over_change_nothing() -> None:
    actor = playing(HOLD)
    actor.ask(heartbeat_request(1))
    actor.close()
    assert actor.connection.replace(actor.stage.plan, actor.stage.now) == ()


@pytest.mark.parametrize("per", ["connection", "client", "broker", "rule"])
def test_a_faster_line_under_the_same_name_does_not_wait_for_the_slow_one(per: str) -> None:
    def throttled(rate: int) -> str:
        return scenario(rule("r", f"{{throttle: {{messages: {rate}, per: {per}}}}}"))

    actor = Stage(throttled(1)).actor()
    for number in range(200):
        actor.ask(heartbeat_request(number))
    actor.stage.replace(throttled(1000))
    assert len(actor.ids("request")) == 200
    begun = (actor.stage.now - START) / MS
    actor.ask(heartbeat_request(200))
    actor.stage.wait(1000)
    assert [at - begun for at, _ in actor.times["request"]][-1] == 1


def test_attempts_to_connect_are_counted_anew_for_another_rule_of_the_same_name() -> None:
    def refused(do: str) -> str:
        return one_rule(f"{{refuse: {{how: {do}}}}}", "{broker: 1}", "when: {times: 1}")

    rules = Rules(loads(refused("reset")))
    assert [rules.connecting(1, number, START) is None for number in (0, 1)] == [False, True]
    rules = Rules(loads(refused("reset")), rules)
    assert rules.connecting(1, 2, START) is None
    rules = Rules(loads(refused("close")), rules)
    assert rules.connecting(1, 3, START) is not None
