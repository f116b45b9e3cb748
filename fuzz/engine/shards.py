"""A shard: a range of case numbers that runs on any machine, and its results as rows of a table.

`Job` has everything that a shard depends on as plain values. So a shard can run anywhere, also where the
campaign's captures are missing.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from barnabas.fuzz.campaigns.campaign import Campaign
from barnabas.fuzz.cases.case import Seed
from barnabas.fuzz.cases.json_form import observation_json, observation_of, recipe_json, recipe_of
from barnabas.fuzz.corpus.corpora import Basis
from barnabas.fuzz.engine.assembly import PreparedCampaign, from_corpus
from barnabas.fuzz.engine.rounds import run_range
from barnabas.fuzz.engine.stats import Aside, Cell, Detection, Reached, Stats
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.targets.target import Target

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA: Final = "kind string, said string"
"""The columns of the table of results: the kind of a row, and its values as JSON."""

GAVE_UP: Final = "gave up"
"""The kind of a row with the reason why a shard can't run there. It is no exception: Spark would retry it in
vain and print a hundred lines."""

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """The plain values that a shard depends on.

    Attributes:
        campaign: The campaign as JSON.
        basis: What the target reported at the campaign's beginning.
        corpus: All messages, also those of the files that the campaign names.
        owned: Whether the user owns the target.
        make_target: Makes the target from the campaign's text and `owned`.
    """

    campaign: str
    basis: Basis
    corpus: tuple[Seed, ...]
    owned: bool
    make_target: Callable[[str, bool], Target]


def job_of(
    campaign: PreparedCampaign, owned: bool, make_target: Callable[[str, bool], Target]
) -> Job:
    """Return the job of a campaign."""
    return Job(
        campaign.campaign.model_dump_json(), campaign.basis, campaign.corpus, owned, make_target
    )


def run_shard(job: Job, energies: Mapping[str, int], numbers: range) -> Stats:
    """Run cases of a round against a new target. Raises barnabas.fuzz.errors.CannotRun."""
    campaign = Campaign.model_validate_json(job.campaign)
    prepared = from_corpus(campaign, job.basis, job.corpus)
    stats = Stats()
    with job.make_target(prepared.campaign.target, job.owned) as target:
        for batch in run_range(target, prepared.maker(energies), prepared.oracles, numbers):
            stats.merge(batch.stats)
    return stats


def shards(
    job: Job, energies: Mapping[str, int]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: from a column `id`, the numbers of one shard, to rows of SCHEMA."""

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        if not numbers:
            return
        whole = range(min(numbers), max(numbers) + 1)
        if len(whole) != len(numbers):
            raise ValueError("a shard is a range of case numbers")
        try:
            rows = list(rows_of(run_shard(job, energies, whole)))
        except (CannotRun, Misuse) as problem:
            rows = [(GAVE_UP, f"{problem} (on {socket.gethostname()})")]
        yield pa.RecordBatch.from_pydict(
            {"kind": [kind for kind, _ in rows], "said": [values for _, values in rows]}
        )

    return work


def rows_of(stats: Stats) -> Iterator[Row]:
    """Yield statistics as rows."""
    yield "cases", json.dumps(stats.cases)
    for cell, cases in stats.coverage.items():
        yield "coverage", json.dumps([*cell, cases])
    for feature, reached in stats.features.items():
        yield "feature", json.dumps([feature, *reached])
    for detection in stats.findings.values():
        verdict = detection.verdict
        values = {
            "verdict": [verdict.oracle, verdict.message, verdict.behaviour],
            "cases": detection.count,
            "triggers": [[*cell, cases] for cell, cases in detection.triggers.items()],
            "observation": observation_json(detection.observation),
        }
        yield "finding", json.dumps(values)
    for kind, aside in stats.aside.items():
        yield "aside", json.dumps([kind, recipe_json(aside.recipe), aside.case, aside.count])


def checked_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a shard that was run. Raises CannotRun if it could not be run."""
    for kind, message in rows:
        if kind == GAVE_UP:
            raise CannotRun(message)
    return rows


def stats_of(rows: Iterable[Row]) -> Stats:
    """Return the statistics of rows of any number of shards, in any order."""
    whole = Stats()
    for kind, values in rows:
        whole.merge(_part(kind, json.loads(values)))
    return whole


def _part(kind: str, values: Any) -> Stats:
    match kind:
        case "cases":
            return Stats(cases=values)
        case "coverage":
            return Stats(coverage=Counter({Cell(*values[:4]): values[4]}))
        case "feature":
            feature, case, origin = values
            return Stats(features={feature: Reached(case, origin)})
        case "finding":
            oracle, message, behaviour = values["verdict"]
            verdict = Verdict(oracle, message, tuple(behaviour))
            triggers = Counter({Cell(*cell): cases for *cell, cases in values["triggers"]})
            detection = Detection(
                verdict, observation_of(values["observation"]), values["cases"], triggers
            )
            return Stats(findings={detection.key: detection})
        case "aside":
            (api, version, mutator, *reasons), recipe, first, count = values
            aside = Aside(recipe_of(recipe), first, count)
            return Stats(aside={(api, version, mutator, "".join(reasons)): aside})
    raise ValueError(f"a row of kind {kind!r}")
