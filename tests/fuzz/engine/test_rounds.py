from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.database.findings import Findings, StoredCampaign
from barnabas.fuzz.engine.rounds import Batch, Event, run, run_range
from barnabas.fuzz.engine.stats import Stats
from tests.fuzz.fakes import RAISED, FakeMaker, FakeTarget

ORACLES = (RAISED,)


def here(target: FakeTarget):  # type: ignore[no-untyped-def]
    def run_round(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        return run_range(target, FakeMaker("s", energies), ORACLES, numbers)

    return run_round


def ranged(target: FakeTarget, numbers: range, **about: Any) -> Iterator[Batch]:
    return run_range(target, FakeMaker("s"), ORACLES, numbers, **about)


def ran(kept: StoredCampaign, last: int = 500, batch: int = 30) -> list[Event]:
    return list(run(here(FakeTarget(batch)), kept, 100, last))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Findings]:
    with Findings(tmp_path / "f.db", write=True) as findings:
        yield findings


def new(findings: Findings, name: str) -> StoredCampaign:
    return findings.campaign(name, "fake", {}, 0.0)


def kept_of(findings: Findings, kept: StoredCampaign) -> object:
    """All that is kept of a campaign but for which it is."""
    rows = [
        (one.name, one.cases, one.first_case, one.recipe, one.observation, one.capture)
        for one in findings.findings(kept.id)
    ]
    about = findings.coverage(kept.id), findings.features(kept.id), findings.rounds(kept.id)
    return rows, about, kept.done


def test_the_first_case_of_a_finding_is_the_lowest_that_fires(database: Findings) -> None:
    kept = new(database, "a")
    ran(kept, last=100)
    maker = FakeMaker("s")
    firing = [n for n in range(100) if maker.case(n).chunks[0][-1] == 13]
    found = next(f for f in database.findings(kept.id) if f.behaviour == ("IndexError",))
    assert (found.first_case, found.cases) == (firing[0], len(firing))


def test_the_size_of_batches_changes_nothing(database: Findings) -> None:
    one, other = new(database, "a"), new(database, "b")
    ran(one, batch=7)
    ran(other, batch=100)
    assert kept_of(database, one) == kept_of(database, other)


def test_what_is_interrupted_goes_on_as_if_it_had_not_been(database: Findings) -> None:
    whole, parts = new(database, "a"), new(database, "b")
    ran(whole)
    for events in (1, 4, 9):  # in the midst of a round, and at its end
        campaign = run(here(FakeTarget(30)), new(database, "b"), 100, 500)
        for _ in range(events):
            next(campaign)
        campaign.close()
    parts = new(database, "b")
    assert 0 < parts.done < 500
    ran(parts)
    assert kept_of(database, parts) == kept_of(database, whole)


class Interrupted(FakeTarget):
    """Somebody presses Ctrl-C at its eighth case."""

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        for one in super().run(cases):
            if len(self.ran) == 8:
                raise KeyboardInterrupt
            yield one


def test_what_is_done_of_a_batch_is_kept_when_somebody_interrupts_it(database: Findings) -> None:
    whole, parts = new(database, "a"), new(database, "b")
    with pytest.raises(KeyboardInterrupt):
        list(run(here(Interrupted()), parts, 100, 100))
    assert parts.done == 7
    ran(parts, 100)
    ran(whole, 100)
    assert kept_of(database, parts) == kept_of(database, whole)


def test_what_is_done_of_a_batch_is_kept_whenever_it_is_due() -> None:
    due = iter([False, False, True, False, True])
    batches = list(ranged(FakeTarget(), range(20), due=lambda: next(due, False)))
    assert [(batch.end, batch.stats.cases) for batch in batches] == [(3, 3), (5, 2), (20, 15)]
    (whole,) = ranged(FakeTarget(), range(20))
    total = Stats()
    for batch in batches:
        total.merge(batch.stats)
    assert total == whole.stats


class Late(FakeTarget):
    """What fires is shown without it first, and again with it at the end."""

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        seen = list(super().run(cases))
        yield from (replace(one, raised="") for one in seen)
        yield from (one for one in seen if one.raised)


def test_what_is_shown_twice_is_one_case(database: Findings) -> None:
    late, plain = new(database, "a"), new(database, "b")
    list(run(here(Late()), late, 100, 200))
    ran(plain, 200)
    assert database.coverage(late.id) == database.coverage(plain.id)

    def counts(kept: StoredCampaign) -> list[tuple[str, int, int]]:
        return [(one.name, one.cases, one.first_case) for one in database.findings(kept.id)]

    assert counts(late) == counts(plain)


def test_a_batch_ends_behind_the_case_after_which_the_time_is_up() -> None:
    target = FakeTarget()
    (batch,) = ranged(target, range(100, 500), over=lambda: len(target.ran) > 7)
    assert (batch.end, batch.stats.cases) == (107, 7)
    (batch,) = ranged(target, range(107, 500), over=lambda: True)
    assert (batch.end, batch.stats.cases) == (108, 1), "it gets on, however slow the cases are"


class Finishing(FakeTarget):
    def run_until(self, cases: Sequence[Case], over: Callable[[], bool]) -> Iterator[Observation]:
        for at in range(0, len(cases), 2):
            if over():
                return
            yield from super().run(cases[at : at + 2])


def test_what_is_under_way_when_the_time_is_up_is_kept() -> None:
    target = Finishing()
    (batch,) = ranged(target, range(100, 500), over=lambda: len(target.ran) > 6)
    assert (batch.end, batch.stats.cases) == (108, 8)
    assert [one.end for one in ranged(target, range(4))] == [4]
