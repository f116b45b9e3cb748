from __future__ import annotations

import pytest

from barnabas.proxy.effects import Aside, Effect, Gather, HangUp, Lose, Shuffle, Wait
from barnabas.proxy.matching.match import Match
from barnabas.proxy.rules.wording import describe

JOIN = Match.model_validate({"api": "JoinGroup", "direction": "request"})
S = 1_000_000_000


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
    ],
)  # fmt: skip
def test_effects_in_words(effect: Effect, words: str) -> None:
    assert describe(effect) == words
