from __future__ import annotations

import random

import pytest

from fuzz.assembling import assembled
from fuzz.campaign import Campaign
from fuzz.corpora import basis
from fuzz.running import run_range
from fuzz.shards import job_of, rows_of, run_shard, tally_of
from fuzz.targets.contents import target_of
from tests.fuzz.fakes import RAISED, FakeMaker, FakeTarget


def test_rows_in_any_order_are_the_tally_again() -> None:
    rows = [
        row
        for shard in (range(150, 300), range(150))
        for batch in run_range(FakeTarget(), FakeMaker("s"), [RAISED], shard, 40)
        for row in rows_of(batch.tally)
    ]
    random.Random(7).shuffle(rows)
    (whole,) = run_range(FakeTarget(), FakeMaker("s"), [RAISED], range(300), 300)
    assert tally_of(rows) == whole.tally


def test_a_job_of_plain_values_is_the_campaign(tmp_path_factory: pytest.TempPathFactory) -> None:
    campaign = Campaign.model_validate(
        {"version": 1, "target": "decoder:specs", "apis": ["ApiVersions"], "budget": {"cases": 40}}
    )
    folder = tmp_path_factory.mktemp("folder")
    with target_of("decoder:specs", False) as target:
        found = assembled(campaign, basis(target), folder)
        (batch,) = run_range(target, found.maker({}), found.oracles, range(40), 40)
    job = job_of(found, False, target_of)
    halves = [run_shard(job, {}, numbers) for numbers in (range(20, 40), range(20))]
    again = tally_of(row for half in halves for row in rows_of(half))
    assert again.coverage == batch.tally.coverage
    assert again.features == batch.tally.features


def test_what_is_no_row_is_refused() -> None:
    with pytest.raises(ValueError, match="kind 'x'"):
        tally_of([("x", "1")])
