"""Faults of a user's own that remember something: all of each is here, and nothing of it elsewhere."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from pathlib import Path

import pytest

from barnabas.captures.reader import CaptureReader
from barnabas.loop import run
from barnabas.proxy.effects import Effects, Schedule, Wait
from barnabas.proxy.faults import FAULTS, Fault, PerConnection, PerRule
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Duration
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.lint.notes import remarks
from tests.proxy.faults.given import requests
from tests.proxy.playbook import MS, Stage
from tests.proxy.test_rehearsal import live


class Wander(Settings):
    """The delay is a random walk."""

    step: Duration
    """The most by which it changes."""


class Walk:
    """The position of a random walk, in ns."""

    ns = 50 * MS


def wander(config: Wander, message: Message, roll: Roll, walk: Walk) -> Effects:
    """Wait a little more or less than before."""
    walk.ns = max(0, walk.ns + round(config.step * (2 * roll() - 1)))
    return (Wait(walk.ns),)


class Bucket(Settings):
    """A message takes a token, and waits for one if none is left."""

    burst: int
    """So many there are at most."""
    every: Duration
    """When there is another one."""


class Tokens:
    """From when on the bucket is full, in ns."""

    full = 0

    def take(self, config: Bucket, now: int) -> int:
        """Return when a message has its token that would leave now."""
        self.full = max(self.full, now) + config.every
        return max(now, self.full - config.burst * config.every)


def bucket(config: Bucket, message: Message, roll: Roll, tokens: Tokens) -> Effects:
    """Leave with the next token."""
    return (Schedule(partial(tokens.take, config), f"one of {config.burst} tokens"),)


OWN: tuple[Fault, ...] = (
    *FAULTS,
    ("wander", Wander, wander, PerConnection(Walk)),
    ("bucket", Bucket, bucket, PerRule(Tokens)),
)
WALKS = "version: 1\nseed: 7\nrules: [{name: r, do: {wander: {step: 9ms}}}]"
TAKES = "version: 1\nrules: [{name: r, do: {bucket: {burst: 2, every: 100ms}}}]"


def test_each_connection_walks_by_itself_and_takes_its_walk_along() -> None:
    stage = Stage(WALKS, faults=OWN)
    one, two = stage.actor(), stage.actor()
    one.ask(requests(1))
    two.ask(requests(1))
    (rule,) = stage.rules.rules
    (first,), (second,) = (
        actor.connection.state.counts.of(rule).states.values() for actor in (one, two)
    )
    assert first is not second
    assert not rule.total.states
    gone = weakref.ref(first)
    one.close()
    stage.actors.remove(one)
    del one, first
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(("ms", "what"), [(0, []), (30, ["delay 30 ms"])])
def test_a_bucket_is_told_when_a_message_would_leave(ms: int, what: list[str]) -> None:
    do = f"do: {{delay: {ms}ms, " if ms else "do: {"
    actor = Stage(TAKES.replace("do: {", do), faults=OWN).actor()
    for number in range(4):
        actor.ask(requests(number))
    actor.stage.wait(1000)
    assert [at - ms for at, _ in actor.times["request"]] == [0, 0, 100, 200]
    assert actor.cuts[0]["what"] == [*what, "one of 2 tokens"]


def test_connections_share_the_state_of_a_rule_and_it_ends_with_that() -> None:
    stage = Stage(TAKES, faults=OWN)
    actors = [stage.actor() for _ in range(3)]
    for actor in actors:
        actor.ask(requests(1))
    stage.wait(50)
    assert [bool(actor.sent["request"]) for actor in actors] == [True, True, False]
    stage.replace(TAKES + "\nabout: {simulates: x, healthy: y}")  # the same rule
    actors[0].ask(requests(2))
    stage.wait(140)
    assert actors[0].ids("request") == [1]
    stage.replace(TAKES.replace("100ms", "101ms"))
    actors[1].ask(requests(2))
    assert actors[1].ids("request") == [1, 2]


def test_what_all_connections_share_is_said_to_depend_on_them() -> None:
    assert remarks(loads(WALKS, faults=OWN)) == []
    (said,) = remarks(loads(TAKES, faults=OWN))
    note = "not reproducible live, deterministic in rehearse"
    assert said == f"note: rule 'r' is {note} (bucket: all connections share its state)"


@pytest.mark.parametrize("text", [WALKS, TAKES])
def test_a_rehearsal_has_the_states_of_the_live_run(text: str, tmp_path: Path) -> None:
    capture = tmp_path / "live.pcapng"
    run(live(text.replace("100ms", "1ms").replace("9ms", "1ms"), capture, OWN))
    reader = CaptureReader(capture)
    rehearsal = Rehearsal(loads(reader.meta["scenario"], faults=OWN), reader.meta["began"])
    found = list(rehearsal.run(reader))
    assert any(one.decision[0] == ("r",) for one in found)
    assert [one.decision for one in found] == [one.recorded for one in found]


class Nothing(Settings):
    """No settings."""


def broken(config: Nothing, message: Message, roll: Roll) -> Effects:
    raise RuntimeError("two\nlines")


def leaves(config: Nothing, message: Message, roll: Roll) -> Effects:
    raise SystemExit("bye")


def wrong(config: Nothing, message: Message, roll: Roll) -> Effects:
    return "no effects"  # type: ignore[return-value]


def stateless(config: Nothing, message: Message, roll: Roll, state: object) -> Effects:
    return ()


def no_state() -> object:
    raise KeyError("none")


@pytest.mark.parametrize(("fault", "why"), [
    (("bad", Nothing, broken), "it raised RuntimeError: two lines"),
    (("bad", Nothing, leaves), "it raised SystemExit: bye"),
    (("bad", Nothing, wrong), "it returned str, not a tuple of effects"),
    (("bad", Nothing, stateless, PerRule(no_state)), "it raised KeyError: 'none'"),
])  # fmt: skip
def test_a_fault_that_raises_costs_its_rule_and_nothing_else(fault: Fault, why: str) -> None:
    stage = Stage("version: 1\nrules: [{name: r, do: {bad: {}}}]", faults=(*FAULTS, fault))
    actor = stage.actor()
    actor.ask(requests(1))
    assert len(actor.times["request"]) == 1, "the message passes as it came"
    (rule,) = stage.rules.rules
    assert rule.unable == 1
    assert dict(rule.troubles) == {f"bad: {why}": 1}
