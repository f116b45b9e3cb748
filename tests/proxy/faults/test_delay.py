from __future__ import annotations

import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.faults.delay import TAIL
from barnabas.proxy.matching.seeded_random import Roll, seeded_roll
from tests.proxy.faults.given import Examples, Row, effect_of, requests, stage

DISTRIBUTIONS = ("uniform", "normal", "pareto")
EXAMPLES = Examples(
    {"by": "1s", "jitter": "900ms"},
    rows=[Row("1s")],
    live=["1ms"],
    refused=[
        (f"{{by: 1s, distribution: {how}}}", f"give jitter too: it is {jitter} (such as jitter: 50ms)")
        for how, jitter in (
            ("uniform", "the most that is added or taken off"),
            ("normal", "the standard deviation"),
            ("pareto", "what is added on average"),
        )
    ],
    says=[("{by: 0s}", "no_op", "by"), ("{by: 0s, jitter: 1s}", "no_op", ""), ("{by: 1ns}", "no_op", "")],
)  # fmt: skip

MS = 1_000_000
TIMES = st.integers(0, 60_000 * MS)


def drawn(by: int, jitter: int, how: str, roll: Roll) -> int:
    settings = {"by": f"{by}ns", "jitter": f"{jitter}ns", "distribution": how}
    return int(effect_of("delay", settings, roll=roll).ns)


@given(TIMES, TIMES, st.floats(0, 1, exclude_max=True))
def test_each_distribution_has_its_bounds(by: int, jitter: int, chance: float) -> None:
    assert max(0, by - jitter) <= drawn(by, jitter, "uniform", lambda: chance) <= by + jitter
    assert drawn(by, jitter, "normal", lambda: chance) >= 0
    assert by <= drawn(by, jitter, "pareto", lambda: chance) <= by + TAIL * jitter


@given(TIMES, st.sampled_from(DISTRIBUTIONS))
def test_without_jitter_nothing_is_drawn(by: int, how: str) -> None:
    never: Any = None
    assert drawn(by, 0, how, never) == by


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_what_is_said_is_the_delay_that_was_drawn(how: str) -> None:
    actor = stage(f"{{delay: {{by: 100ms, jitter: 20ms, distribution: {how}}}}}")
    for number in range(5):
        actor.ask(requests(number))
        actor.stage.wait(10_000)
    left = [at % 10_000 for at, _ in actor.times["request"]]
    said = [float(word.split()[1]) for cut in actor.cuts for word in cut["what"]]
    assert len(set(left)) == 5
    assert said == pytest.approx(left, abs=0.5)


def sample(how: str) -> list[float]:
    return [drawn(1000 * MS, 100 * MS, how, seeded_roll(7, "r", (n,))) / MS for n in range(4000)]


def test_uniform_uses_all_of_its_range() -> None:
    found = sample("uniform")
    assert (min(found) < 905, max(found) > 1095) == (True, True)
    assert abs(statistics.fmean(found) - 1000) < 5


def test_normal_has_jitter_as_standard_deviation() -> None:
    found = sample("normal")
    assert abs(statistics.fmean(found) - 1000) < 5
    assert abs(statistics.stdev(found) - 100) < 5


def test_pareto_adds_jitter_on_average_and_has_a_tail() -> None:
    found = sample("pareto")
    assert abs(statistics.fmean(found) - 1100) < 15
    assert statistics.median(found) == pytest.approx(1000 + 100 * (2**0.5 - 1), abs=5)
    assert max(found) > 2000
