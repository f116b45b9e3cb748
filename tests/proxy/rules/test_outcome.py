"""What rules have done, as a value, and what of it goes on under the next ones."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import fields
from typing import Any, Final

import pytest

from barnabas.proxy.effects import (
    Aside,
    Effect,
    Gather,
    HangUp,
    Lose,
    Partition,
    Reject,
    Shuffle,
    Wait,
)
from barnabas.proxy.matching.match import Match
from barnabas.proxy.rules.merged_effects import merge
from barnabas.proxy.rules.outcome import Outcome, outcome
from barnabas.proxy.rules.rules import Decision
from tests.proxy.rules.test_rules import rules


def made(number: int, **counts: Any) -> Outcome:
    """One whose counts all differ."""
    names = [field.name for field in fields(Outcome)][2:-2]
    numbers = {name: number * place for place, name in enumerate(names, 1)}
    given = {"troubles": Counter(), "doubts": Counter(), **numbers, **counts}
    return Outcome("cut", ("close",), **given)


def test_it_is_what_the_rule_had_counted_then() -> None:
    (rule,) = rules("do: [{delay: 1ms}, {close: {forward: true}}]").rules
    rule.total.matched, rule.total.fired, rule.forced = 6, 5, 4
    rule.released, rule.expired, rule.ended, rule.unclear, rule.unable = 3, 2, 8, 1, 7
    rule.troubles["broken"] = rule.doubts["dark"] = 1
    found = outcome(rule)
    rule.troubles["broken"] += 1
    rule.doubts["dark"] += 1
    assert found == Outcome(
        *("r0", ("delay", "close"), 6, 5, 4, 3, 2, 8, 1, 7), Counter(broken=1), Counter(dark=1)
    )
    assert pickle.loads(pickle.dumps(found)) == found


def test_of_two_processes_every_count_and_every_cause_is_added() -> None:
    one = made(1, troubles=Counter(a=1), doubts=Counter(a=2, b=1))
    other = made(10, troubles=Counter(b=2), doubts=Counter(b=4))
    assert one + other == made(11, troubles=Counter(a=1, b=2), doubts=Counter(a=2, b=5))


def test_what_became_of_it_names_the_most_frequent_causes() -> None:
    quiet = {field.name: 0 for field in fields(Outcome)[2:-2]}
    assert made(0, **quiet).what == "close"
    one = made(0, unable=2, unclear=1, troubles=Counter(odd=2), doubts=Counter(dark=1))
    other = made(0, unable=1, unclear=4, troubles=Counter(thin=1), doubts=Counter(dim=3))
    assert (one + other).what == (
        "close, 3 could not be done: odd (2), thin (1), 5 undecided: dim (3), dark (1), others (1)"
    )


def test_what_became_of_a_rule() -> None:
    rule = rules("do: {hold: {until: {api: JoinGroup}}}").rule("r0")
    assert outcome(rule).what == "hold"
    rule.released, rule.expired, rule.ended = 2, 1, 3
    words = "hold, 2 released, 1 timed out, 3 left when the connection ended"
    assert outcome(rule).what == words
    with pytest.raises(LookupError):
        rules().rule("r1")


# one scenario after another


@pytest.mark.parametrize(("before", "after", "words"), [
    (("do: close",), ("do: close", "do: drop"), "rule 'r1' added"),
    (("do: close", "do: drop"), ("do: close",), "rule 'r1' removed"),
    (("do: close",), ("do: drop",), "replaced"),
    (("do: close",), ("do: close",), "replaced"),
])  # fmt: skip
def test_what_became_of_the_rules_before(
    before: tuple[str, ...], after: tuple[str, ...], words: str
) -> None:
    old = rules(*before)
    new = rules(*after, before=old)
    assert new.change(old) == words
    assert new.shared(old) == {f"r{n}" for n, text in enumerate(after) if text in before[n : n + 1]}


def test_what_rules_have_done_goes_on_under_the_next_ones() -> None:
    first = rules("do: close", "do: [{delay: 1s}, duplicate]")
    first.claim = lambda rule: False
    for number, rule in enumerate(first.rules, 1):
        rule.total.fired = number
    second = rules("do: close", before=first)
    assert second.rules[0] is first.rules[0]
    second.rules[0].total.fired += 3
    assert second.struck == {"close": 4, "delay": 2, "duplicate": 2}
    assert rules("do: drop", before=second).struck == second.struck + Counter(drop=0)
    assert second.claim is first.claim


JOIN = Match.model_validate({"api": "JoinGroup", "direction": "request"})
S = 1_000_000_000


BOTH: Final = ("request", "response")


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Wait(213_000_000), "delay 213 ms"),
        (Aside(5 * S, until=JOIN), "hold until JoinGroup request (same connection), at most 5 s"),
        (Aside(5 * S, until=JOIN, same="any"), "hold until JoinGroup request (anywhere), at most 5 s"),
        (Aside(5 * S), "hold 5 s"),
        (Aside(5 * S, passing=3), "hold until 3 more have passed, at most 5 s"),
        (Aside(5 * S, JOIN, "client", 3), "hold until 3 more have passed (same client), at most 5 s"),
        (Aside(5 * S, control=True), "hold until released, at most 5 s"),
        (Shuffle((1, 0), 5 * S), "shuffle 2, at most 5 s"),
        (Shuffle((1, 0), 5 * S, scope="client me"), "shuffle 2 of client me, at most 5 s"),
        (Gather(3, 5 * S), "gather 3, at most 5 s"),
        (Lose(), "drop"),
        (Lose(selective=True), "drop (this exchange only)"),
        (HangUp(), "close"),
        (HangUp(forward=True), "close after this message"),
        (HangUp(reset=True), "reset"),
        (Partition(5 * S, None, None, BOTH), "isolate all clients from brokers all for 5 s"),
        (Partition(5 * S, ("me",), frozenset((2, 1)), BOTH), "isolate me from brokers 1 and 2 for 5 s"),
        (Partition(S, None, None, BOTH[:1]), "isolate all clients from brokers all for 1 s, requests only"),
        (Reject("hang", 5 * S), "refuse the connection (hang) for 5 s"),
        (Reject("reset", 5 * S), "refuse the connection (reset)"),
    ],
)  # fmt: skip
def test_effects_in_words(effect: Effect, words: str) -> None:
    assert str(effect) == words


def test_the_first_rule_that_holds_a_message_back_decides_unless_another_drops_it() -> None:
    held = [
        Decision(name, (Aside(at_most),), ()) for name, at_most in (("first", 5), ("second", 6))
    ]
    dropped = Decision("third", (Lose(),), ())
    assert [(one.chosen, one.by) for one in (merge(held), merge([*held, dropped]))] == [
        (Aside(5), "first"),
        (Lose(), "third"),
    ]
