"""A shard: a range of case numbers run wherever it is, and what it came to as rows of a table.

Everything that a shard depends on is in `Job`, as plain values: so any shard can be run again anywhere, also
where nobody has the campaign's captures.
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
from barnabas.fuzz.engine.assembling import Assembled, from_corpus
from barnabas.fuzz.engine.running import run_range
from barnabas.fuzz.engine.stats import Aside, Cell, Found, Reached, Stats
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.oracles.oracle import Verdict
from barnabas.fuzz.targets.target import Target

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA: Final = "kind string, said string"
"""Of the table that shards give: what a row is, and its values as JSON."""

GAVE_UP: Final = "gave up"
"""The kind of a row that says why a shard can't be run where it was tried. It is no exception there: Spark
would try again, for nothing, and tell of it in a hundred lines."""

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Job:
    """What a shard needs. campaign: JSON. corpus: of all the files that the campaign names, too. make_target:
    of the campaign's target and `own`."""

    campaign: str
    basis: Basis
    corpus: tuple[Seed, ...]
    own: bool
    make_target: Callable[[str, bool], Target]


def job_of(found: Assembled, own: bool, make_target: Callable[[str, bool], Target]) -> Job:
    """The job of a campaign."""
    return Job(found.campaign.model_dump_json(), found.basis, found.corpus, own, make_target)


def run_shard(job: Job, energies: Mapping[str, int], numbers: range) -> Stats:
    """Run cases of a round, against a target of one's own. Raises barnabas.fuzz.errors.CannotRun."""
    campaign = Campaign.model_validate_json(job.campaign)
    found = from_corpus(campaign, job.basis, job.corpus)
    stats = Stats()
    with job.make_target(found.campaign.target, job.own) as target:
        for batch in run_range(target, found.maker(energies), found.oracles, numbers):
            stats.merge(batch.stats)
    return stats


def shards(
    job: Job, energies: Mapping[str, int]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """For `mapInArrow`: batches of a column `id`, the numbers of one shard, to rows of SCHEMA."""

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
            {"kind": [kind for kind, _ in rows], "said": [said for _, said in rows]}
        )

    return work


def rows_of(stats: Stats) -> Iterator[Row]:
    """Stats as rows."""
    yield "cases", json.dumps(stats.cases)
    for cell, cases in stats.coverage.items():
        yield "coverage", json.dumps([*cell, cases])
    for feature, reached in stats.features.items():
        yield "feature", json.dumps([feature, *reached])
    for found in stats.findings.values():
        verdict = found.verdict
        said = {
            "verdict": [verdict.oracle, verdict.what, verdict.behaviour],
            "cases": found.count,
            "triggers": [[*cell, cases] for cell, cases in found.triggers.items()],
            "observation": observation_json(found.observation),
        }
        yield "finding", json.dumps(said)
    for kind, aside in stats.aside.items():
        yield "aside", json.dumps([kind, recipe_json(aside.recipe), aside.case, aside.count])


def came_to(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of a shard that was run. Raises CannotRun if it could not be."""
    for kind, said in rows:
        if kind == GAVE_UP:
            raise CannotRun(said)
    return rows


def stats_of(rows: Iterable[Row]) -> Stats:
    """The stats of rows of any number of shards, in any order."""
    whole = Stats()
    for kind, said in rows:
        whole.merge(_part(kind, json.loads(said)))
    return whole


def _part(kind: str, said: Any) -> Stats:
    match kind:
        case "cases":
            return Stats(cases=said)
        case "coverage":
            return Stats(coverage=Counter({Cell(*said[:4]): said[4]}))
        case "feature":
            feature, case, origin = said
            return Stats(features={feature: Reached(case, origin)})
        case "finding":
            oracle, what, behaviour = said["verdict"]
            verdict = Verdict(oracle, what, tuple(behaviour))
            triggers = Counter({Cell(*cell): cases for *cell, cases in said["triggers"]})
            found = Found(verdict, observation_of(said["observation"]), said["cases"], triggers)
            return Stats(findings={(oracle, verdict.behaviour): found})
        case "aside":
            (api, version, mutator), recipe, first, count = said
            aside = Aside(recipe_of(recipe), first, count)
            return Stats(aside={(api, version, mutator): aside})
    raise ValueError(f"a row of kind {kind!r}")
