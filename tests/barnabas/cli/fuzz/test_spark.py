"""A round in shards on Spark comes to what it comes to here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from barnabas.cli.fuzz.spark import rounds
from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.corpus.corpora import basis
from barnabas.fuzz.database.findings import Findings, StoredCampaign
from barnabas.fuzz.engine.assembly import PreparedCampaign, prepare
from barnabas.fuzz.engine.rounds import Batch, RunRound, run, run_range
from barnabas.fuzz.engine.shards import job_of
from barnabas.fuzz.targets.decoder import DecoderTarget
from barnabas.fuzz.targets.decoders import read_specs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAMPAIGN = Campaign.model_validate(
    {"version": 1, "target": "strict", "apis": ["Fetch", "Produce"], "budget": {"cases": 400},
     "round": 200}
)  # fmt: skip


def strict() -> DecoderTarget:
    """Our own decoder, of which every refusal counts as a finding: it has no others."""
    return DecoderTarget("strict", read_specs, ())


def here(found: PreparedCampaign) -> RunRound:
    def run_round(numbers: range, energies: Mapping[str, int]) -> Iterator[Batch]:
        return run_range(strict(), found.maker(energies), found.oracles, numbers)

    return run_round


def came_to(findings: Findings, kept: StoredCampaign) -> tuple[object, ...]:
    return (
        [
            (one.name, one.cases, one.first_case, one.recipe)
            for one in findings.findings(kept.id)
        ],
        findings.coverage(kept.id),
        findings.features(kept.id),
        findings.rounds(kept.id),
    )  # fmt: skip


def test_shards_find_and_cover_what_one_process_does(spark: SparkSession, tmp_path: Path) -> None:
    found = prepare(CAMPAIGN, basis(strict()), tmp_path)
    # a lambda goes to the workers by value: they know no tests
    job = job_of(found, False, lambda name, own: DecoderTarget(name, read_specs, ()))
    with Findings(tmp_path / "f.db", write=True) as findings:
        one, other = (findings.campaign(name, "strict", {}, 0.0) for name in "ab")
        list(run(here(found), one, CAMPAIGN.round, 400))
        list(run(rounds(spark, job, other), other, CAMPAIGN.round, 400))
        first, second = came_to(findings, one), came_to(findings, other)
    assert first == second
    assert first[0], "nothing was found on either side"
