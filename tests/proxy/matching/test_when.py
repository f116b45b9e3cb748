from __future__ import annotations

import pytest

from barnabas.proxy.scenario.file import ScenarioError, loads
from tests.proxy.faults.given import requests, stage
from tests.proxy.frames import request
from tests.proxy.playbook import Actor, Stage


def under(when: str) -> Actor:
    return stage("{drop: {selective: true}}", when=when)


def gone(actor: Actor, count: int, every_ms: int = 0) -> list[int]:
    for number in range(count):
        actor.ask(requests(number))
        actor.stage.wait(every_ms)
    return [x for x in range(count) if x not in actor.ids("request")]


@pytest.mark.parametrize(("when", "expected"), [
    ("{}", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    ("{every: 3}", [0, 3, 6, 9]),
    ("{skip: 2, every: 3}", [2, 5, 8]),
    ("{skip: 2, every: 3, times: 2}", [2, 5]),
    ("{times: 2}", [0, 1]),
    # 100 ms between two
    ("{after: {time: 300ms}}", [3, 4, 5, 6, 7, 8, 9]),
    ("{until: {time: 300ms}}", [0, 1, 2]),
    ("{after: {time: 200ms}, until: {time: 500ms}}", [2, 3, 4]),
    ("{after: {time: 200ms}, skip: 1, times: 1}", [3]),
    ("{phases: [{lasts: 200ms}, {lasts: 300ms, probability: 0}]}", [0, 1, 5, 6]),
    ("{after: {time: 100ms}, phases: [{lasts: 200ms, probability: 0}, {lasts: 100ms}]}", [3, 6, 9]),
])  # fmt: skip
def test_on_which_of_ten_matches_it_fires(when: str, expected: list[int]) -> None:
    assert gone(under(when), 10, 100) == expected


def test_a_phase_has_its_own_share() -> None:
    actor = under("{phases: [{lasts: 1h, probability: 0.25}]}")
    assert 15 < len(gone(actor, 100)) < 35


RULE = (
    "- {{name: {}, match: {{api: Heartbeat, direction: request}}, when: {}, "
    "do: {{drop: {{selective: true}}}}}}\n"
)


def two(when: str) -> str:
    rules = RULE.format("first", "{every: 2}") + RULE.format("second", when)
    return f"version: 1\nrules:\n{rules}"


@pytest.mark.parametrize(("when", "expected"), [
    ("{after: {rule: first, fired: 3}}", [0, 2, 4, 5, 6, 7, 8, 9]),
    ("{until: {rule: first, fired: 3}}", [0, 1, 2, 3, 4, 6, 8]),
    ("{after: {rule: first}, times: 1}", [0, 1, 2, 4, 6, 8]),
])  # fmt: skip
def test_a_rule_may_wait_for_another(when: str, expected: list[int]) -> None:
    assert gone(Stage(two(when)).actor(), 10) == expected


def test_a_rule_that_is_not_there_is_refused() -> None:
    why = "4: unknown rule 'frist' in after; did you mean 'first'"
    with pytest.raises(ScenarioError, match=why):
        loads(two("{after: {rule: frist}}"))


@pytest.mark.parametrize("key", ["[group_id, member_id]", "member_id"])
def test_chance_may_go_by_what_the_message_says(key: str) -> None:
    def outcomes(seed: int) -> list[list[int]]:
        rules = RULE.format("r", f"{{probability: 0.5, key: {key}}}")
        shared = Stage(f"version: 1\nseed: {seed}\nrules:\n{rules}")
        found: list[list[int]] = []
        for order in (range(20), reversed(range(20))):  # the same messages on two connections
            actor = shared.actor()
            for number in order:
                actor.ask(request("Heartbeat", number, group_id="g", member_id=f"m{number}"))
            found.append(sorted(actor.ids("request")))
        return found

    one, other = outcomes(7)
    assert one == other
    assert 3 < len(one) < 17
    assert outcomes(8)[0] != one


@pytest.mark.parametrize(("when", "reason"), [
    ("{every: 0}", "every: must be at least 1"),
    ("{after: {}}", "give time or rule"),
    ("{after: {time: 1s, rule: r}}", "give time or rule"),
    ("{phases: [{probability: 1}]}", "'lasts' is missing"),
    ("{phases: [{lasts: 0s}]}", "lasts"),
    ("{key: 'a ='}", "key"),
])  # fmt: skip
def test_what_can_not_be_is_refused(when: str, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        under(when)
