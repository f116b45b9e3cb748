from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from barnabas.proxy.faults.delay import TAIL, Delay, delay
from barnabas.proxy.matching.seeded_random import seeded_roll
from tests.proxy.faults.given import Examples, Row, ask, only, stage

EXAMPLES = Examples(
    {"by": "1s", "jitter": "900ms"},
    rows=[Row("1s")],
    live=["1ms"],
)

MS = 1_000_000
CHANCES = st.floats(0, 1, exclude_max=True)
DISTRIBUTIONS = ("uniform", "normal", "pareto")


def config(by: int, jitter: int, distribution: str = "uniform") -> Delay:
    settings = {"by": f"{by}ns", "jitter": f"{jitter}ns", "distribution": distribution}
    return Delay.model_validate(settings)


TIMES = st.integers(0, 60_000 * MS)


@given(TIMES, TIMES, st.sampled_from(DISTRIBUTIONS), CHANCES)
def test_delays_are_never_negative(by: int, jitter: int, how: str, chance: float) -> None:
    assert only(delay, config(by, jitter, how), lambda: chance).ns >= 0


@given(TIMES, TIMES, CHANCES)
def test_uniform_stays_within_its_jitter(by: int, jitter: int, chance: float) -> None:
    assert max(0, by - jitter) <= only(delay, config(by, jitter), lambda: chance).ns <= by + jitter


@given(TIMES, TIMES, CHANCES)
def test_pareto_is_never_early_and_has_an_end(by: int, jitter: int, chance: float) -> None:
    assert by <= only(delay, config(by, jitter, "pareto"), lambda: chance).ns <= by + TAIL * jitter


@given(TIMES, st.sampled_from(DISTRIBUTIONS))
def test_without_jitter_nothing_is_drawn(by: int, how: str) -> None:
    def never() -> float:
        raise AssertionError

    assert only(delay, config(by, 0, how), never).ns == by


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_a_distribution_without_jitter_is_refused_and_what_jitter_is_said(how: str) -> None:
    with pytest.raises(ValidationError, match=f"distribution: {how} .* give jitter too: it is"):
        Delay.model_validate({"by": "1s", "distribution": how})


@pytest.mark.parametrize("how", DISTRIBUTIONS)
def test_what_is_said_is_the_delay_that_was_drawn(how: str) -> None:
    actor = stage(f"{{delay: {{by: 100ms, jitter: 20ms, distribution: {how}}}}}")
    for number in range(5):
        actor.ask(ask(number))
        actor.stage.wait(10_000)
    left = [at % 10_000 for at, _ in actor.times["request"]]
    said = [float(word.split()[1]) for cut in actor.cuts for word in cut["what"]]
    assert len(set(left)) == 5
    assert said == pytest.approx(left, abs=0.5)


def sample(how: str) -> list[float]:
    wanted = config(1000 * MS, 100 * MS, how)
    return [only(delay, wanted, seeded_roll(7, "r", (n,))).ns / MS for n in range(4000)]


def test_uniform_uses_all_of_its_range() -> None:
    found = sample("uniform")
    assert min(found) < 905
    assert max(found) > 1095
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
