"""Who computes on while nobody is under way is found, on a clock of its own; a real process is seen to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import COMPUTES, WAITED, Death, Observation
from barnabas.fuzz.targets.busy_threads import IN_VAIN, LONG_S, BusyThreadFinder
from tests.fuzz.observed import ASK, case

THREAD = 2
ENDLESS = (1.0, 1e9)
HALF = (0.5, 1e9)


@dataclass
class Bench:
    """A process, and who sends cases to it. shares: of a core that it takes behind a case, by its number, and
    for how many seconds. waits: share of the time in which it stands ready and has no processor. dies: when
    it ends by itself."""

    shares: dict[int, tuple[float, float]]
    share: tuple[float, float] = (0.0, 0.0)
    waits: float = 0.0
    dies: float = 1e9
    pid: int | None = 7
    now: float = 0.0
    had: float = 0.0
    other: float = 0.0
    waited: float = 0.0
    did: list[object] = field(default_factory=list)

    def threads(self) -> dict[int, tuple[float, float]]:
        """One that rests, one that takes what it takes, and one that takes as much when that one pauses."""
        if self.death() is not None:
            return {}
        return {1: (0.1, 0.0), THREAD: (self.had, self.waited), 3: (self.other, 0.0)}

    def where(self, thread: int) -> tuple[str, ...]:
        return (f"kafka.A.f{thread}",)

    def death(self) -> Death | None:
        return Death(3, "") if self.now >= self.dies else None

    def perform(self, cases: Sequence[Case]) -> list[Observation]:
        (one,) = cases
        self.did.append(one.number)
        self.share = max(self.share, self.shares.get(one.number, (0.0, 0.0)))
        return [late(one.number)]

    def restart(self) -> None:
        self.did.append("restart")
        self.share = (0.0, 0.0)

    def sleep(self, seconds: float) -> None:
        share, left = self.share
        self.now += seconds
        self.had += share * min(seconds, left)
        self.other += share * min(seconds, left) if share < 1 else 0.0
        self.waited += self.waits * seconds
        self.share = share, max(left - seconds, 0.0)


def late(number: int) -> Observation:
    return Observation(case(ASK, number=number), facts=((WAITED, 400),))


def computing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> BusyThreadFinder:
    monkeypatch.setattr("barnabas.fuzz.targets.busy_threads.threads", lambda pid: bench.threads())
    return BusyThreadFinder(bench, bench, lambda: bench.now, bench.sleep)  # type: ignore[arg-type]


def test_the_first_case_that_does_it_alone_is_named_with_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench({5: ENDLESS, 6: ENDLESS}, share=ENDLESS)
    found = computing(bench, monkeypatch).find_culprit([late(n) for n in (4, 5, 6)])
    assert found is not None
    assert found.case.number == 5
    assert dict(found.facts)[COMPUTES] == [LONG_S, f"kafka.A.f{THREAD}"]
    assert bench.did == ["restart", 4, 5, "restart"]


def test_who_ends_the_process_meanwhile_is_named_with_that(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench({5: ENDLESS}, share=ENDLESS, dies=LONG_S + 3)
    found = computing(bench, monkeypatch).find_culprit([late(n) for n in (4, 5, 6)])
    assert found is not None
    assert found.case.number == 5
    assert found.death == Death(3, "")
    assert bench.did == ["restart", 4, 5, "restart"]


def test_nobody_is_looked_for_any_longer_once_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench({5: ENDLESS}, share=ENDLESS)
    looks = computing(bench, monkeypatch)
    assert looks.find_culprit([late(5)], lambda: True) is None
    assert bench.now == 0
    assert looks.find_culprit([late(4), late(5)], lambda: 4 in bench.did) is None
    assert bench.did == ["restart", 4]


@pytest.mark.parametrize(("share", "most"), [(HALF, 1.2), ((1.0, LONG_S - 2), LONG_S)])
def test_who_comes_to_rest_or_pauses_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, share: tuple[float, float], most: float
) -> None:
    bench = Bench({}, share=share)
    assert computing(bench, monkeypatch).find_culprit([late(4)]) is None
    assert not bench.did
    assert bench.now <= most


@pytest.mark.parametrize(("does", "long"), [("pass", True), ("input()", False)])
def test_a_real_process_is_seen_to_compute_or_to_rest(
    monkeypatch: pytest.MonkeyPatch, does: str, long: bool
) -> None:
    monkeypatch.setattr("barnabas.fuzz.targets.busy_threads.LONG_S", 0.3)
    code = f"print('ready', flush=True)\nwhile True: {does}"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        bench = Bench({}, pid=process.pid)
        try:
            thread = BusyThreadFinder(bench, bench).find_thread()  # type: ignore[arg-type]
        finally:
            process.kill()
    assert thread == (process.pid if long else None)


def test_what_no_case_does_alone_is_searched_for_a_few_times_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench({})
    looks = computing(bench, monkeypatch)
    for _ in range(IN_VAIN + 1):
        bench.share = ENDLESS
        assert looks.find_culprit([late(4)]) is None
    assert bench.did == ["restart", 4] * IN_VAIN + ["restart"]
