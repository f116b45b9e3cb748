"""Which rules a message meets, on which matches they fire, and what they decide then."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from pydantic import BaseModel

from barnabas.proxy.effects import Effect, Lose, Stall, Wait
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.rules.rule import MAX_REASONS, Counts, count_reason
from barnabas.proxy.rules.rules import Decision, Rules
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from tests.bodies import reassignments

HEARTBEAT = Message("request", 12, 0, "app", 1, 0, 0, "g", 20, None)
UNREAD = "the body can't be read"
NO_LENGTH = "length() takes string, array or object, not number"


def rules(*texts: str, seed: int = 7, before: Rules | None = None) -> Rules:
    named = "".join(f"- {{name: r{n}, {text}}}\n" for n, text in enumerate(texts))
    return Rules(loads(f"version: 1\nseed: {seed}\nrules:\n{named or '  []'}"), before)


def decide(made: Rules, message: Message, counts: Counts) -> list[Decision]:
    result = Candidates(made, message.broker, message.ordinal)
    kind = message.direction, message.key, message.version
    candidates = result.of(*kind, message.client_id)
    return made.decide(candidates, message, counts)


def effects(*texts: str) -> list[Effect]:
    """Return the effects of some rules on a Heartbeat."""
    decisions = decide(rules(*texts), HEARTBEAT, Counts())
    return [effect for decision in decisions for effect in decision.effects]


def fired(made: Rules, count: int, message: Message = HEARTBEAT) -> list[int]:
    counts = Counts()
    return [n for n in range(count) if decide(made, message, counts)]


def heartbeat_message(group: str) -> Message:
    body = api("Heartbeat").request.codec(0).encode({"group_id": group})
    return replace(HEARTBEAT, body=body)


# candidates, conditions


def test_peers_are_checked() -> None:
    made = rules("match: {client_id: app, broker: 1}, do: close")
    assert decide(made, HEARTBEAT, Counts())
    assert not decide(made, replace(HEARTBEAT, broker=2), Counts())
    assert not decide(made, replace(HEARTBEAT, client_id=None), Counts())
    assert (made.rules[0].matched, made.rules[0].fired) == (1, 1)
    assert not made.rules[0].needs_body


@pytest.mark.parametrize(("condition", "message", "matched", "doubt"), [
    ("group_id == 'g'", heartbeat_message("g"), 1, ""),
    ("group_id == 'g'", heartbeat_message("h"), 0, ""),
    ("group_id == 'g'", replace(HEARTBEAT, body=b"\xff"), 0, UNREAD),
    ("group_id == 'g'", HEARTBEAT, 0, UNREAD),
    ("length(generation_id) > `1`", heartbeat_message("g"), 0, NO_LENGTH),
    ("@", HEARTBEAT, 0, UNREAD),
])  # fmt: skip
def test_what_can_not_be_decided_is_no_match(
    condition: str, message: Message, matched: int, doubt: str
) -> None:
    made = rules(f'match: {{api: Heartbeat, direction: request}}, where: "{condition}", do: close')
    (rule,) = made.rules
    assert bool(decide(made, message, Counts())) == (matched == rule.matched == rule.fired == 1)
    assert (rule.unclear, rule.doubt) == (bool(doubt), doubt)
    assert rule.needs_body
    assert [rule.news(), rule.news()] == [doubt, ""], "it is said once"


def test_each_cause_of_doubt_is_told_with_its_count() -> None:
    made = rules("match: {api: Heartbeat}, where: length(generation_id) > `1`, do: close")
    for message in (
        heartbeat_message("g"),
        replace(HEARTBEAT, body=b"\xff"),
        heartbeat_message("g"),
    ):
        assert not decide(made, message, Counts())
    what = f"close, 3 undecided: {NO_LENGTH} (2), {UNREAD} (1)"
    assert outcome(made.rules[0]).what == what


def test_causes_are_told_apart_up_to_a_bound() -> None:
    results: Counter[str] = Counter()
    for number in [*range(2 * MAX_REASONS), 0]:
        count_reason(results, str(number))
    assert (len(results), results["0"]) == (MAX_REASONS, 2)


def test_not_more_than_ten_doubts_of_a_rule_are_said() -> None:
    (rule,) = rules("do: close").rules
    lines = []
    for number in range(20):
        rule.doubt = str(number)
        lines.append(rule.news())
    assert [text for text in lines if text] == [str(number) for number in range(9)]


@pytest.mark.parametrize(
    "asks", ["match: {api: 45}, where: 'length(topics) > 5'", "match: {api: 45, topic: 'a*'}"]
)
def test_what_is_too_large_to_decode_is_undecided(asks: str) -> None:
    made = rules(f"{asks}, do: close")
    message = replace(HEARTBEAT, key=45, version=0, body=reassignments())
    assert not decide(made, message, Counts())
    (rule,) = made.rules
    assert (rule.matched, rule.unclear) == (0, 1)
    assert rule.doubt.startswith("too large to decode")


# when


@pytest.mark.parametrize(
    ("when", "expected"),
    [("skip: 2, times: 3", [2, 3, 4]), ("skip: 7", [7, 8, 9]), ("times: 1", [0]), ("probability: 0", [])],
)  # fmt: skip
def test_skip_and_times(when: str, expected: list[int]) -> None:
    assert fired(rules(f"when: {{{when}}}, do: close"), 10) == expected


@pytest.mark.parametrize("after", ["", "after: {rule: r0}, ", "after: {time: 2s}, "])
def test_phases_follow_each_other_to_the_nanosecond(after: str) -> None:
    when = f"{after}phases: [{{lasts: 1s}}, {{lasts: 2s, probability: 0}}]"
    made = rules("match: {api: Fetch}, do: close", f"when: {{{when}}}, do: close")
    made.began = 300_000_000
    made.rules[0].total.fired = 1
    begun = made.began + (2_000_000_000 if "time" in after else 0)
    times = [0, 999_999_999, 1_000_000_000, 2_999_999_999, 3_000_000_000, 4_000_000_000]
    messages = [replace(HEARTBEAT, arrived=begun + time) for time in times]
    results = [bool(decide(made, message, Counts())) for message in messages]
    assert results == [True, True, False, False, True, False]


def test_times_counts_what_fired_not_what_matched() -> None:
    result = fired(rules("when: {times: 3, probability: 0.3}, do: close"), 200)
    assert result == fired(rules("when: {probability: 0.3}, do: close"), 200)[:3]


def test_probability_is_met_and_depends_on_the_seed_alone() -> None:
    text = "when: {probability: 0.3}, do: close"
    result = fired(rules(text), 2000)
    assert abs(len(result) / 2000 - 0.3) < 0.04
    assert result == fired(rules(text), 2000)
    assert result != fired(rules(text, seed=8), 2000)


def test_a_greater_probability_fires_where_the_smaller_one_did() -> None:
    some = fired(rules("when: {probability: 0.2}, do: close"), 300)
    more = fired(rules("when: {probability: 0.6}, do: close"), 300)
    assert set(some) < set(more)


def test_another_probability_changes_no_delay() -> None:
    delay = "do: {delay: {by: 1s, jitter: 1s}}"
    assert effects(delay) == effects(f"when: {{probability: 0.99}}, {delay}") != []


@pytest.mark.parametrize(("when", "expected", "counts"), [
    ("times: 1", [True, True, False, False], (4, 2)),
    ("skip: 1, times: 1, scope: rule", [False, True, False, False], (4, 1)),
])  # fmt: skip
def test_matches_are_counted_for_each_connection_or_for_all(
    when: str, expected: list[bool], counts: tuple[int, int]
) -> None:
    made = rules(f"when: {{{when}}}, do: close")
    one, two = Counts(), Counts()
    results = [bool(decide(made, HEARTBEAT, each)) for each in (one, two, one, two)]
    assert results == expected
    assert (made.rules[0].matched, made.rules[0].fired) == counts


TEXTS = (
    "when: {probability: 0.5}, do: {delay: {by: 1s, jitter: 500ms}}",
    "when: {skip: 3, times: 5, probability: 0.7}, do: {reorder: {shuffle: 5}}",
)


def test_interleaving_changes_no_decision() -> None:
    """Two connections, one after the other, and mixed in many ways."""
    ends = [HEARTBEAT, replace(HEARTBEAT, connection=1, ordinal=1)]

    def run(turns: list[int]) -> list[list[list[Decision]]]:
        made, counts = rules(*TEXTS), [Counts(), Counts()]
        results: list[list[list[Decision]]] = [[], []]
        for turn in turns:
            results[turn].append(decide(made, ends[turn], counts[turn]))
        return results

    turns = [0] * 40 + [1] * 40
    expected = run(turns)
    assert expected[0] != expected[1]
    for seed in range(5):
        random.Random(seed).shuffle(turns)
        assert run(turns) == expected


@pytest.mark.parametrize(
    ("change", "same"),
    [({"client_id": "b"}, False), ({"broker": 2}, False), ({"ordinal": 1}, False), ({"connection": 5}, True)],
)  # fmt: skip
def test_connections_have_chances_of_their_own(change: dict[str, str | int], same: bool) -> None:
    """The proxy's own number of a connection changes nothing; with scope: rule nothing does but the turn."""
    other = replace(HEARTBEAT, **change)  # type: ignore[arg-type]
    assert (fired(rules(TEXTS[0]), 100) == fired(rules(TEXTS[0]), 100, other)) == same
    shared = "when: {probability: 0.5, scope: rule}, do: close"
    assert fired(rules(shared), 100) == fired(rules(shared), 100, other)


# decisions


def test_rules_decide_in_their_order_until_one_loses_the_message() -> None:
    made = rules("do: {delay: 1s}", "do: [{stall: 2s}, drop]", "do: {delay: 3s}")
    assert decide(made, HEARTBEAT, Counts()) == [
        Decision("r0", (Wait(1_000_000_000),), ("delay 1 s",)),
        Decision(
            "r1",
            (Stall("request", 2_000_000_000), Lose()),
            ("stop reading requests for 2 s", "drop"),
        ),
    ]
    assert made.rules[2].matched == 0


class Whim(BaseModel):
    """The settings of somebody else's fault: it has none."""


def whim(config: Whim, message: Message, roll: Roll) -> tuple[Effect, ...]:
    """Lose a message."""
    return (Lose(),)


def test_what_stands_behind_a_fault_that_lost_the_message_is_not_done() -> None:
    text = "version: 1\nrules: [{name: r, do: [whim, {delay: 1s}]}]"
    made = Rules(loads(text, faults=(*FAULTS, ("whim", Whim, whim))))
    assert decide(made, HEARTBEAT, Counts()) == [Decision("r", (Lose(),), ("drop",))]


def test_what_holds_wait_for() -> None:
    made = rules(
        "do: {hold: {until: {api: JoinGroup, same: any}}}",
        "do: [{hold: {until: {api: SyncGroup}}}, duplicate]",
    )
    waits = [(match.describe(), same) for match, same in made.waits_for]
    assert waits == [("JoinGroup message", "any"), ("SyncGroup message", "connection")]
    assert not made.needs_group
    assert made.needs_request == ()
    assert rules("do: {hold: {until: {same: group}}}").needs_group
    (needs,) = rules("do: {hold: {until: {topic: t}}}").needs_request
    assert needs.describe() == "any message of topic t"
