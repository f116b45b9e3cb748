from __future__ import annotations

from collections.abc import Iterator, Sequence

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import REACHED, Observation
from barnabas.fuzz.coverage.probes import Key, Probes
from barnabas.fuzz.engine.features import features
from barnabas.fuzz.engine.guidance import EVERY, GuidedTarget
from barnabas.fuzz.engine.line_counts import ComparedTarget, what_valid_shows
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker

CLASS, TIMER = Key(1, "a/B"), Key(2, "a/Timer")


class Jvm:
    """Cases pass the probe that their last byte says; a timer passes another one from time to time."""

    at_once = 200

    def __init__(self) -> None:
        self.ran: list[int] = []
        self.read = 0
        self._passed = 0

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for case in cases:
            self.ran.append(case.number)
            self._passed |= 1 << case.chunks[0][-1]
            yield Observation(case)

    def since(self) -> dict[Key, Probes]:
        self.read += 1
        passed, self._passed = self._passed, 0
        told = {CLASS: Probes(passed, 50)} if passed else {}
        return {**told, TIMER: Probes(1, 1)} if self.read == 1 else told


CASES = FakeMaker("s").cases(range(4 * EVERY))


def test_what_is_new_is_of_the_first_case_that_passes_it() -> None:
    jvm = Jvm()
    found = list(GuidedTarget(jvm, jvm.since, {}).run(CASES))
    assert [one.case for one in found] == CASES
    first: dict[int, int] = {}
    for case in CASES:
        first.setdefault(case.chunks[0][-1], case.number)
    assert {
        one.case.number: reached for one in found if (reached := dict(one.facts).get(REACHED))
    } == {number: [f"reached a/B {byte}"] for byte, number in first.items()}
    assert {f"reached a/B {byte}" for byte in first} <= set().union(*map(features, found))


def test_cases_are_run_again_only_while_something_is_new() -> None:
    jvm = Jvm()
    known = {CLASS: Probes((1 << 50) - 1, 50), TIMER: Probes(1, 1)}
    found = list(GuidedTarget(jvm, jvm.since, known).run(CASES))
    assert jvm.ran == [case.number for case in CASES]
    assert jvm.read == len(CASES) / EVERY
    assert not any(one.facts for one in found)


SAID = Verdict("x", "x", ("x",))


class Echo:
    """Closes the connection where the last byte is odd."""

    at_once = 200

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for case in cases:
            yield Observation(case, ending="closed" if case.chunks[0][-1] % 2 else "open")


def test_they_are_counted_by_place_unless_an_oracle_speaks() -> None:
    target = Echo()
    compared = ComparedTarget(target, what_valid_shows(target, SEEDS))
    (batch,) = run_range(compared, FakeMaker("s"), [RAISED], range(200))
    assert 0 < batch.stats.as_valid.total() < batch.stats.coverage.total()
    assert not batch.stats.as_valid - batch.stats.coverage
    always = Oracle("x", "x", frozenset({"broker"}), lambda one: [SAID], "no x")
    (batch,) = run_range(compared, FakeMaker("s"), [always], range(200))
    assert not batch.stats.as_valid
