from __future__ import annotations

import json
import pickle
import random
from pathlib import Path

import pyarrow as pa
import pytest

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.corpus.corpora import basis
from barnabas.fuzz.engine.assembling import assembled
from barnabas.fuzz.engine.running import run_range
from barnabas.fuzz.engine.shards import came_to, job_of, rows_of, run_shard, shards, stats_of
from barnabas.fuzz.errors import CannotRun
from barnabas.fuzz.targets.registry import target_of
from barnabas.fuzz.targets.target import Target
from tests.fuzz.fakes import RAISED, FakeMaker, FakeTarget

CAMPAIGN = Campaign.model_validate(
    {"version": 1, "target": "decoder:specs", "apis": ["ApiVersions"], "budget": {"cases": 40}}
)


def test_rows_in_any_order_are_the_tally_again() -> None:
    rows = [
        row
        for shard in (range(150, 300), range(150))
        for batch in run_range(FakeTarget(), FakeMaker("s"), [RAISED], shard, 40)
        for row in rows_of(batch.stats)
    ]
    random.Random(7).shuffle(rows)
    (whole,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], range(300), 300)
    assert stats_of(rows) == whole.stats


def test_a_job_of_plain_values_is_the_campaign(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("folder")
    with target_of("decoder:specs", False) as target:
        found = assembled(CAMPAIGN, basis(target), folder)
        (batch,) = run_range(target, found.maker({}), found.oracles, range(40), 40)
    job = job_of(found, False, target_of)
    halves = [run_shard(job, {}, numbers) for numbers in (range(20, 40), range(20))]
    again = stats_of(row for half in halves for row in rows_of(half))
    assert again.coverage == batch.stats.coverage
    assert again.features == batch.stats.features


def test_a_job_needs_no_file_of_the_campaigns(tmp_path: Path) -> None:
    """A worker elsewhere has none of them."""
    frames = tmp_path / "mine.jsonl"
    line = {"api": "Metadata", "key": 3, "version": 0, "direction": "request", "hex": "00000000"}
    frames.write_text(json.dumps(line))
    campaign = Campaign.model_validate(
        {"version": 1, "target": "decoder:specs", "frames": ["mine.jsonl"], "corpora": ["answers"],
         "budget": {"cases": 9}}
    )  # fmt: skip
    with target_of("decoder:specs", False) as target:
        job = job_of(assembled(campaign, basis(target), tmp_path), False, target_of)
    frames.unlink()
    stats = run_shard(pickle.loads(pickle.dumps(job)), {}, range(9))
    assert {cell.api for cell in stats.coverage} == {"Metadata"}


def test_what_can_not_be_run_there_is_said_by_a_row(tmp_path: Path) -> None:
    def missing(text: str, own: bool) -> Target:
        raise CannotRun("it needs what is not here")

    with target_of("decoder:specs", False) as target:
        found = assembled(CAMPAIGN, basis(target), tmp_path)
    work = shards(job_of(found, False, missing), {})
    (batch,) = work(iter([pa.RecordBatch.from_pydict({"id": [0, 1, 2]})]))
    rows = [(row["kind"], row["said"]) for row in batch.to_pylist()]
    with pytest.raises(CannotRun, match=r"needs what is not here \(on "):
        came_to(rows)


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="kind 'x'"):
        stats_of([("x", "1")])
