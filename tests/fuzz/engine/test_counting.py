from __future__ import annotations

from collections.abc import Iterator, Sequence

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.engine.counting import Compared, what_valid_shows
from barnabas.fuzz.engine.running import run_range
from barnabas.fuzz.oracles.oracle import Oracle, Verdict
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker

SAID = Verdict("x", "x", ("x",))


class Echo:
    """Closes the connection where the last byte is odd."""

    at_once = 64

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for case in cases:
            yield Observation(case, ending="closed" if case.chunks[0][-1] % 2 else "open")


def test_they_are_counted_by_place_unless_an_oracle_speaks() -> None:
    target = Echo()
    compared = Compared(target, what_valid_shows(target, SEEDS))
    (batch,) = run_range(compared, FakeMaker("s"), [RAISED], range(200), 200)
    assert 0 < batch.stats.as_valid.total() < batch.stats.coverage.total()
    assert not batch.stats.as_valid - batch.stats.coverage
    always = Oracle("x", "x", frozenset({"broker"}), lambda one: [SAID], "no x")
    (batch,) = run_range(compared, FakeMaker("s"), [always], range(200), 200)
    assert not batch.stats.as_valid
