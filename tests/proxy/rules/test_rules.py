from __future__ import annotations

import random
from dataclasses import replace

import pytest

from barnabas.proxy.effects import HangUp, Lose, Stall, Wait
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.candidates import Candidates
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.rules.rule import Counts
from barnabas.proxy.rules.rules import Decision, Rules
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from tests.bodies import reassignments

HEARTBEAT = Message("request", 12, 0, "app", 1, 0, 0, "g", 20, None)


def rules(*texts: str, seed: int = 7) -> Rules:
    named = "".join(f"- {{name: r{n}, {text}}}\n" for n, text in enumerate(texts))
    return Rules(loads(f"version: 1\nseed: {seed}\nrules:\n{named}"))


def decide(made: Rules, message: Message, counts: Counts) -> list[Decision]:
    found = Candidates(made, message.broker, message.ordinal)
    kind = message.direction, message.key, message.version
    candidates = found.of(*kind, message.client_id)
    return made.decide(candidates, message, counts)


def fired(made: Rules, count: int, message: Message = HEARTBEAT) -> list[int]:
    counts = Counts()
    return [n for n in range(count) if decide(made, message, counts)]


def beat(group: str) -> Message:
    body = api("Heartbeat").request.codec(0).encode({"group_id": group})
    return replace(HEARTBEAT, body=body)


@pytest.mark.parametrize("made", [Rules(None), Rules(loads("version: 1\nrules: []"))])
def test_no_rules(made: Rules) -> None:
    assert made.candidates("request", 1, 11) == ()
    assert [*made.rules, *made.waits_for] == []
    assert made.needs_group is False


def test_candidates_are_told_from_the_kind_alone() -> None:
    made = rules(
        "match: {api: Fetch, direction: response}, do: close",
        "match: {api: Heartbeat, client_id: nobody}, do: close",
        "do: {delay: 1s}",
    )
    assert [rule.name for rule in made.candidates("request", 12, 0)] == ["r1", "r2"]
    assert [rule.name for rule in made.candidates("response", 1, 0)] == ["r0", "r2"]
    assert made.candidates("response", 1, 0) is made.candidates("response", 1, 0)


def test_what_is_remembered_is_bounded() -> None:
    made = rules("match: {api: Fetch}, do: close")
    for number in range(10_000):
        assert made.candidates("request", 1000 + number, 0) == ()
    assert len(made._candidates) <= 4096
    assert len(made.candidates("request", 1, 0)) == 1


def test_peers_are_checked() -> None:
    made = rules("match: {client_id: app, broker: 1}, do: close")
    (rule,) = made.rules
    assert decide(made, HEARTBEAT, Counts())
    assert not decide(made, replace(HEARTBEAT, broker=2), Counts())
    assert not decide(made, replace(HEARTBEAT, client_id=None), Counts())
    assert (rule.matched, rule.fired) == (1, 1)


def test_conditions_are_checked_and_counted_apart() -> None:
    made = rules(
        "match: {api: Heartbeat, direction: request}, where: \"group_id == 'g'\", do: close"
    )
    counts = Counts()
    assert decide(made, beat("g"), counts)
    assert not decide(made, beat("h"), counts)
    assert not decide(made, replace(HEARTBEAT, body=b"\xff"), counts)
    assert not decide(made, HEARTBEAT, counts)
    (rule,) = made.rules
    assert rule.needs_body
    assert (rule.matched, rule.fired, rule.unclear) == (1, 1, 2)
    assert outcome(rule).what == "close, 2 undecided: the body can't be read"


def test_each_cause_of_doubt_is_told_with_its_count() -> None:
    made = rules(
        "match: {api: Heartbeat, direction: request}, where: length(group_id) > `1`, do: close"
    )
    (rule,) = made.rules
    for body in (b"\xff", None, b"\xff"):
        assert not decide(made, replace(HEARTBEAT, body=body), Counts())
    assert outcome(rule).what == "close, 3 undecided: the body can't be read"
    made = rules("match: {api: Heartbeat}, where: length(generation_id) > `1`, do: close")
    (rule,) = made.rules
    for message in (beat("g"), replace(HEARTBEAT, body=b"\xff"), beat("g")):
        assert not decide(made, message, Counts())
    assert outcome(rule).what == (
        "close, 3 undecided: length() takes string, array or object, not number (2), "
        "the body can't be read (1)"
    )


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


def test_a_condition_that_cannot_be_decided_is_no_match() -> None:
    made = rules("match: {api: Heartbeat}, where: 'length(generation_id) > `1`', do: close")
    assert not decide(made, beat("g"), Counts())
    (rule,) = made.rules
    assert (rule.matched, rule.unclear) == (0, 1)
    assert rule.doubt == "length() takes string, array or object, not number"


def test_skip_and_times() -> None:
    assert fired(rules("when: {skip: 2, times: 3}, do: close"), 10) == [2, 3, 4]
    assert fired(rules("when: {skip: 2}, do: close"), 5) == [2, 3, 4]
    assert fired(rules("when: {times: 1}, do: close"), 5) == [0]


def test_times_counts_what_fired_not_what_matched() -> None:
    found = fired(rules("when: {times: 3, probability: 0.3}, do: close"), 200)
    assert len(found) == 3
    assert found == fired(rules("when: {probability: 0.3}, do: close"), 200)[:3]


def test_probability_is_met_and_depends_on_the_seed_alone() -> None:
    text = "when: {probability: 0.3}, do: close"
    found = fired(rules(text), 2000)
    assert abs(len(found) / 2000 - 0.3) < 0.04
    assert found == fired(rules(text), 2000)
    assert found != fired(rules(text, seed=8), 2000)
    assert fired(rules("when: {probability: 0}, do: close"), 100) == []


def test_a_greater_probability_fires_where_the_smaller_one_did() -> None:
    some = fired(rules("when: {probability: 0.2}, do: close"), 300)
    more = fired(rules("when: {probability: 0.6}, do: close"), 300)
    assert set(some) < set(more)


def test_another_probability_changes_no_delay() -> None:
    one = rules("do: {delay: {by: 1s, jitter: 1s}}")
    two = rules("when: {probability: 0.99}, do: {delay: {by: 1s, jitter: 1s}}")
    assert decide(one, HEARTBEAT, Counts()) == decide(two, HEARTBEAT, Counts())


def test_counts_are_kept_for_each_connection() -> None:
    made = rules("when: {times: 1}, do: close")
    one, two = Counts(), Counts()
    found = [bool(decide(made, HEARTBEAT, counts)) for counts in (one, one, two, two)]
    assert found == [True, False, True, False]
    assert (made.rules[0].matched, made.rules[0].fired) == (4, 2)


def test_counts_of_scope_rule_are_shared() -> None:
    made = rules("when: {skip: 1, times: 1, scope: rule}, do: close")
    one, two = Counts(), Counts()
    found = [bool(decide(made, HEARTBEAT, counts)) for counts in (one, two, one, two)]
    assert found == [False, True, False, False]
    assert (made.rules[0].matched, made.rules[0].fired) == (4, 1)


TEXTS = (
    "when: {probability: 0.5}, do: {delay: {by: 1s, jitter: 500ms}}",
    "when: {skip: 3, times: 5, probability: 0.7}, do: {reorder: {shuffle: 5}}",
)


def test_interleaving_changes_no_decision() -> None:
    """Two connections, one after the other, and mixed in many ways."""
    ends = [HEARTBEAT, replace(HEARTBEAT, connection=1, ordinal=1)]

    def run(turns: list[int]) -> list[list[list[Decision]]]:
        made, counts = rules(*TEXTS), [Counts(), Counts()]
        found: list[list[list[Decision]]] = [[], []]
        for turn in turns:
            found[turn].append(decide(made, ends[turn], counts[turn]))
        return found

    turns = [0] * 40 + [1] * 40
    wanted = run(turns)
    assert wanted[0] != wanted[1]
    for seed in range(5):
        random.Random(seed).shuffle(turns)
        assert run(turns) == wanted


@pytest.mark.parametrize("change", [{"client_id": "b"}, {"broker": 2}, {"ordinal": 1}])
def test_connections_have_chances_of_their_own(change: dict[str, str | int]) -> None:
    other = replace(HEARTBEAT, **change)  # type: ignore[arg-type]
    assert fired(rules(TEXTS[0]), 100) != fired(rules(TEXTS[0]), 100, other)


def test_the_proxys_own_number_of_a_connection_changes_nothing() -> None:
    other = replace(HEARTBEAT, connection=5)
    assert fired(rules(TEXTS[0]), 100) == fired(rules(TEXTS[0]), 100, other)


def test_rules_decide_in_their_order_until_one_loses_the_message() -> None:
    made = rules("do: {delay: 1s}", "do: [{stall: 2s}, drop]", "do: {delay: 3s}")
    found = decide(made, HEARTBEAT, Counts())
    assert found == [
        Decision("r0", (Wait(1_000_000_000),), ("delay 1 s",)),
        Decision(
            "r1",
            (Stall("request", 2_000_000_000), Lose()),
            ("stop reading requests for 2 s", "drop"),
        ),
    ]
    assert made.rules[2].matched == 0


def test_nobody_is_asked_after_a_close() -> None:
    found = decide(rules("do: {close: {forward: true}}", "do: drop"), HEARTBEAT, Counts())
    assert [decision.effects for decision in found] == [(HangUp(forward=True),)]


def test_what_holds_wait_for() -> None:
    made = rules(
        "do: {hold: {until: {api: JoinGroup, same: any}}}",
        "do: [{hold: {until: {api: SyncGroup}}}, duplicate]",
    )
    (join, anywhere), (sync, here) = made.waits_for
    assert (join.describe(), anywhere) == ("JoinGroup message", "any")
    assert (sync.describe(), here) == ("SyncGroup message", "connection")
    assert not made.needs_group
    assert rules("do: {hold: {until: {same: group}}}").needs_group


def test_what_became_of_a_rule() -> None:
    made = rules("do: {hold: {until: {api: JoinGroup}}}")
    rule = made.rule("r0")
    assert outcome(rule).what == "hold"
    rule.released, rule.expired = 2, 1
    assert outcome(rule).what == "hold, 2 released, 1 timed out"
    with pytest.raises(LookupError):
        made.rule("r1")
