"""Rounds in shards side by side, and what is left of one that ends early."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from barnabas.fuzz.database.findings import Findings, Kept
from barnabas.fuzz.engine.running import Batch, run_range
from barnabas.fuzz.engine.sharding import side_by_side
from barnabas.fuzz.engine.shards import Row, rows_of
from barnabas.fuzz.errors import CannotRun
from tests.fuzz.fakes import RAISED, FakeMaker, FakeTarget

ROUND = range(100)


def rows(shard: range) -> list[Row]:
    """What a shard comes to."""
    (batch,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], shard, len(shard))
    return list(rows_of(batch.stats))


def ran(
    kept: Kept, run_shard: Callable[[range], Sequence[Row]], numbers: range = ROUND
) -> list[Batch]:
    """Run a round one shard at a time, and keep it."""
    found = []
    for batch in side_by_side(run_shard, numbers, size=20, at_once=1, shelf=kept):
        kept.keep(batch.stats, batch.end, 0)
        found.append(batch)
    return found


def test_what_was_finished_before_a_shard_failed_is_not_run_again(tmp_path: Path) -> None:
    asked: list[int] = []

    def fails(shard: range) -> list[Row]:
        asked.append(shard.start)
        if shard.start == 20 and len(asked) < 6:
            raise CannotRun("its target did not start")
        return rows(shard)

    def in_any_order(kept: Kept) -> None:
        # what comes behind the one that fails is finished by then: all run at once
        for batch in side_by_side(fails, ROUND, size=20, at_once=5, shelf=kept):
            kept.keep(batch.stats, batch.end, 0)

    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        with pytest.raises(CannotRun, match="did not start"):
            in_any_order(kept)
        assert kept.done in (0, 20)
        shelved = [shard for shard, _ in kept.shelved(range(kept.done, 100))]
    done_before = {shard.start for shard in shelved} | set(range(0, kept.done, 20))
    asked.clear()
    asked += [-1] * 6
    with Findings(tmp_path / "f.db", write=True) as findings:
        again = findings.campaign("c", "fake", {}, 0.0)
        numbers = range(again.done, 100)
        for batch in side_by_side(fails, numbers, size=20, at_once=1, shelf=again):
            again.keep(batch.stats, batch.end, 0)
        assert again.done == 100
        assert {number for number in asked if number >= 0}.isdisjoint(done_before)
        assert list(again.shelved(ROUND)) == []
        first = [(one.name, one.cases, one.first_case) for one in findings.findings(again.id)]
    with Findings(tmp_path / "g.db", write=True) as findings:
        whole = findings.campaign("c", "fake", {}, 0.0)
        ran(whole, rows)
        assert first == [(o.name, o.cases, o.first_case) for o in findings.findings(whole.id)]


def test_nobody_waits_for_the_rest_of_a_round_that_is_left(tmp_path: Path) -> None:
    given_up: list[bool] = []
    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        left = side_by_side(
            rows, ROUND, size=20, at_once=1, shelf=kept, give_up=lambda: given_up.append(True)
        )
        kept.keep(next(left).stats, 20, 0)
        left.close()  # type: ignore[attr-defined]
    assert given_up == [True]
