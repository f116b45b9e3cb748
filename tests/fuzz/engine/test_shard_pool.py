"""Rounds in shards side by side, and what is left of one that ends early."""

from __future__ import annotations

import itertools
import json
import pickle
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.cases.case import Recipe
from barnabas.fuzz.cases.observation import NOT_REQUESTED, SET_ASIDE, Observation
from barnabas.fuzz.corpus.corpora import basis
from barnabas.fuzz.database.findings import Findings, StoredCampaign
from barnabas.fuzz.engine.assembly import prepare
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.engine.shard_pool import side_by_side
from barnabas.fuzz.engine.shards import (
    Row,
    checked_rows,
    job_of,
    rows_of,
    run_shard,
    shards,
    stats_of,
)
from barnabas.fuzz.engine.stats import Aside, Judged, Stats
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.registry import target_of
from barnabas.fuzz.targets.target import Target
from tests.fuzz.fakes import RAISED, SEEDS, FakeMaker, FakeTarget

ROUND = range(100)


def rows(shard: range) -> list[Row]:
    (batch,) = run_range(FakeTarget(len(shard)), FakeMaker("s"), [RAISED], shard)
    return list(rows_of(batch.stats))


def test_what_was_finished_before_a_shard_failed_is_not_run_again(tmp_path: Path) -> None:
    requested: list[int] = []

    def fails(shard: range) -> list[Row]:
        requested.append(shard.start)
        if shard.start == 20 and len(requested) < 6:
            raise CannotRun("its target did not start")
        return rows(shard)

    def ran(
        kept: StoredCampaign, run_shard: Callable[[range], Sequence[Row]], at_once: int = 1
    ) -> None:
        numbers = range(kept.done, 100)
        for batch in side_by_side(run_shard, numbers, size=20, at_once=at_once, shelf=kept):
            kept.keep(batch.stats, batch.end, 0)

    with Findings(tmp_path / "f.db", write=True) as findings:
        kept = findings.campaign("c", "fake", {}, 0.0)
        with pytest.raises(CannotRun, match="did not start"):
            ran(kept, fails, at_once=5)  # what comes behind the one that fails is finished by then
        assert kept.done in (0, 20)
        shelved = [shard for shard, _ in kept.shelved(range(kept.done, 100))]
    done_before = {shard.start for shard in shelved} | set(range(0, kept.done, 20))
    requested.clear()
    requested += [-1] * 6
    with Findings(tmp_path / "f.db", write=True) as findings:
        again = findings.campaign("c", "fake", {}, 0.0)
        ran(again, fails)
        assert again.done == 100
        assert {number for number in requested if number >= 0}.isdisjoint(done_before)
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


CAMPAIGN = Campaign.model_validate(
    {"version": 1, "target": "decoder:specs", "apis": ["ApiVersions"], "budget": {"cases": 40}}
)


def test_rows_in_any_order_are_the_tally_again() -> None:
    rows = [
        row
        for shard in (range(150, 300), range(150))
        for batch in run_range(FakeTarget(40), FakeMaker("s"), [RAISED], shard)
        for row in rows_of(batch.stats)
    ]
    random.Random(7).shuffle(rows)
    (whole,) = run_range(FakeTarget(300), FakeMaker("s"), [RAISED], range(300))
    assert stats_of(rows) == whole.stats


def test_a_job_of_plain_values_is_the_campaign(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("folder")
    with target_of("decoder:specs", False) as target:
        result = prepare(CAMPAIGN, basis(target), folder)
        (batch,) = run_range(target, result.maker({}), result.oracles, range(40))
    job = job_of(result, False, target_of)
    halves = [run_shard(job, {}, numbers) for numbers in (range(20, 40), range(20))]
    again = stats_of(row for half in halves for row in rows_of(half))
    assert again.coverage == batch.stats.coverage
    assert again.features == batch.stats.features


def test_a_job_needs_no_file_of_the_campaigns(tmp_path: Path) -> None:
    frames = tmp_path / "mine.jsonl"
    line = {"api": "Metadata", "key": 3, "version": 0, "direction": "request", "hex": "00000000"}
    frames.write_text(json.dumps(line))
    campaign = Campaign.model_validate(
        {"version": 1, "target": "decoder:specs", "frames": ["mine.jsonl"], "corpora": ["answers"],
         "budget": {"cases": 9}}
    )  # fmt: skip
    with target_of("decoder:specs", False) as target:
        job = job_of(prepare(campaign, basis(target), tmp_path), False, target_of)
    frames.unlink()
    stats = run_shard(pickle.loads(pickle.dumps(job)), {}, range(9))
    assert {cell.api for cell in stats.coverage} == {"Metadata"}


def test_what_can_not_be_run_there_is_said_by_a_row(tmp_path: Path) -> None:
    def missing(text: str, own: bool) -> Target:
        raise CannotRun("it needs what is not here")

    with target_of("decoder:specs", False) as target:
        result = prepare(CAMPAIGN, basis(target), tmp_path)
    work = shards(job_of(result, False, missing), {})
    (batch,) = work(iter([pa.RecordBatch.from_pydict({"id": [0, 1, 2]})]))
    rows = [(row["kind"], row["said"]) for row in batch.to_pylist()]
    with pytest.raises(CannotRun, match=r"needs what is not here \(on "):
        checked_rows(rows)


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="kind 'x'"):
        stats_of([("x", "1")])


def aside(*numbers: int) -> Stats:
    result = Stats()
    for number in numbers:
        case = FakeMaker("s").case(number)
        recipe = Recipe(SEEDS[number % 2], case.recipe.changes[:0])
        seen = Observation(
            type(case)(number, recipe, case.chunks), facts=((SET_ASIDE, NOT_REQUESTED),)
        )
        result.add(Judged(seen, frozenset({"no feature"}), ()))
    return result


def test_what_was_set_aside_is_counted_by_kind_with_the_first_of_each() -> None:
    expected = {
        ("Metadata", 0, "", NOT_REQUESTED): Aside(Recipe(SEEDS[0], ()), 2, 3),
        ("Metadata", 1, "", NOT_REQUESTED): Aside(Recipe(SEEDS[1], ()), 3, 1),
    }
    one, other = aside(4, 2), aside(6, 3)
    both = Stats()
    both.merge(other)
    both.merge(one)
    assert both.aside == expected
    assert both.features == {}  # nobody has answered
    assert stats_of([*rows_of(one), *rows_of(other)]).aside == expected


def blamed(number: int, *others: int) -> Stats:
    case = FakeMaker("s").case(number)
    facts = (("together", [*others, number]),) if others else ()
    result = Stats()
    seen = Observation(case, raised="KeyError: x", facts=facts)
    result.add(Judged(seen, frozenset(), tuple(RAISED.judge(seen))))
    return result


def test_a_case_that_showed_it_alone_is_kept_before_one_of_several_in_any_order() -> None:
    parts = blamed(3, 1, 2), blamed(7), blamed(9), blamed(8, 6)
    for order in itertools.permutations(parts):
        whole = stats_of(row for part in order for row in rows_of(part))
        (found,) = whole.findings.values()
        assert (found.case, found.count) == (7, 4)
