"""What both a check and an analysis of its own conclude, they conclude of the same exchanges.

`findings` runs the checks themselves, see test_findings. These ask something else of the table in SQL, and
where they judge the same, none may say what the other does not; a tie says which part that is.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.finding import Finding
from barnabas.captures.checks.runner import run
from barnabas.captures.kafka.exchange import Exchange
from barnabas.pipeline.analyses.commits import commits
from barnabas.pipeline.analyses.heartbeats import heartbeats
from barnabas.pipeline.analyses.rebalances import rebalances
from barnabas.pipeline.analyses.retries import LEAST, retries
from tests.captures.checks.groups import group_heartbeat, heartbeat, join, sync, transact
from tests.pipeline.analyses.made import commit, metadata, numbered
from tests.pipeline.analyses.tables import captured, found_in, rows, table
from tests.pipeline.analyses.test_findings import MADE as FINDINGS
from tests.samples.recipes import SAMPLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Fact = tuple[Any, ...]

MADE: dict[str, list[Exchange]] = {
    **FINDINGS,
    "in time": [join(0), sync(10), heartbeat(3000), heartbeat(6000)],
    "late": [join(0), sync(10), heartbeat(3000), heartbeat(8000)],
    "too late": [join(0), sync(10), heartbeat(10_000)],
    "waits": [join(0), sync(10), heartbeat(3000, took=4000), heartbeat(10_000)],
    "interval": [
        group_heartbeat(0, 0, 1),
        group_heartbeat(5001, 1, 1),
        group_heartbeat(20_000, 1, 1),
    ],
    "commits": [group_heartbeat(0, 0, 1), commit(12_000, 1), group_heartbeat(16_001, 1, 1)],
    "never again": [group_heartbeat(0, 0, 1), commit(12_000, 1)],
    "removed": [group_heartbeat(0, 0, 1), group_heartbeat(60_000, 1, 0, error=110)],
    "left": [group_heartbeat(0, 0, 1), group_heartbeat(60_000, -1, -1)],
    "again": [group_heartbeat(0, 0, 1), group_heartbeat(60_000, 0, 1)],
    "gap": [join(0), heartbeat(30_000, losses=1)],
    "comes last": [
        join(0, "a", 1, took=10),
        heartbeat(100, "a", 1, took=2),
        join(200, "b", 2, took=810),
        heartbeat(300, "a", 1, error=27, took=2),
        join(1000, "a", 2, took=10),  # late: busy with its records
        sync(1020, "a", 2, took=10),
        sync(1020, "b", 2, took=30),
    ],
    "told late": [
        join(0, "a", 1, took=10, leader="a", members=("a",)),
        join(200, "b", 2, took=810),
        heartbeat(950, "a", 1, error=27, took=2),
        join(1000, "a", 2, took=10, leader="a", members=("a", "b")),
    ],
    "refused": [commit(1, 5, error=22), commit(2, 5)],
    "fenced": [transact(1, error=22)],
    "rebalances": [transact(1, error=27), commit(2, 5, error=27)],
    "hasty": [metadata(n * 3, error=5) for n in range(LEAST + 1)],
    "patient": [metadata(n * 300, error=5) for n in range(LEAST + 1)],
}


def silent(finding: Finding) -> Fact | None:
    result = re.match(
        r"group (.*): member (.*) \(.*\) (?:was silent for|commits, but)", finding.what
    )
    return None if result is None else result.groups()


def too_long(row: Any) -> Fact | None:
    """As the check is set, if nobody sets it otherwise."""
    classic = row["protocol"] == "classic"
    timeout, share = (row["session_timeout_ms"], 1 / 3) if classic else (row["interval_ms"], 2.0)
    gap = row["max_gap_ms"]
    if timeout is None or gap is None or gap <= timeout * share + 500:
        return None
    return row["group"], row["member"]


def fenced(finding: Finding) -> Fact | None:
    result = re.match(r"group (.*): a transaction's offsets", finding.what)
    return result.groups() if result is not None and "KIP-447" in finding.advice else None


def refused(finding: Finding) -> Fact | None:
    result = re.match(
        r"group (.*): (?:a commit|a transaction's offsets) of generation", finding.what
    )
    refusal = result is not None and "rejected" in finding.what and "KIP-447" not in finding.advice
    return result.groups() if result is not None and refusal else None


def last(finding: Finding) -> Fact | None:
    result = re.match(
        r"group (.*): the rebalance to generation (\d+) took .*; member (.*) \(.*\) joined last",
        finding.what,
    )
    return None if result is None else (result[1], int(result[2]), result[3])


class Tie(NamedTuple):
    """A check and an analysis, and the facts that they have in common, each None if it says nothing of it."""

    check: str
    analysis: Callable[[DataFrame], DataFrame]
    of_finding: Callable[[Finding], Fact | None]
    of_row: Callable[[Any], Fact | None]
    only: str = ""
    """Which of them may say more, and why; empty: none."""
    settings: dict[str, Any] = {}  # noqa: RUF012


CHECK, ANALYSIS = "check: ", "analysis: "

TIES = {
    "heartbeats": Tie(
        "heartbeats",
        heartbeats,
        silent,
        too_long,
        CHECK + "at a commit it tells of a silence that no heartbeat has ended",
    ),
    "fenced": Tie(
        "commits", commits, fenced, lambda row: (row["group"],) if row["fenced"] else None
    ),
    "refused": Tie(
        "commits",
        commits,
        refused,
        lambda row: (row["group"],) if row["refused"] else None,
        ANALYSIS + "errors that say nothing of a generation, such as those of a coordinator, count",
    ),
    "joins": Tie(
        "joins",
        rebalances,
        last,
        lambda row: (
            (row["group"], row["generation"], row["member"])
            if row["phase"] == "join" and row["late"] and row["protocol"] == "classic"
            else None
        ),
        "",
        {"longest_ms": 0.0},
    ),
    "backoff": Tie(
        "backoff",
        retries,
        lambda finding: (finding.evidence[-1].client, finding.evidence[-1].api),
        lambda row: (row["client_id"], row["api"]),
        ANALYSIS + "other requests, and pauses that are no haste, make a storm too",
        {"times": LEAST - 1},
    ),
}


@pytest.fixture(scope="module")
def exchanges(spark: SparkSession) -> Iterator[DataFrame]:
    results = [row for name, each in MADE.items() for row in rows(_ended(each), name)]
    results += [row for name, _ in SAMPLES for row in captured(name)]
    whole = table(spark, results).cache()
    yield whole
    whole.unpersist()


def _ended(made: list[Exchange]) -> list[Exchange]:
    return sorted(numbered(*made), key=lambda one: one.latency_ms is None)


@pytest.mark.parametrize("name", TIES)
def test_a_check_and_an_analysis_agree(name: str, exchanges: DataFrame) -> None:
    tie = TIES[name]
    check = next(one for one in CHECKS if one.name == tie.check)
    check = check._replace(settings=dataclasses.replace(check.settings, **tie.settings))
    seen: dict[str, Iterable[Exchange]] = {name: _ended(each) for name, each in MADE.items()}
    seen |= {name: found_in(name) for name, _ in SAMPLES}
    checked = {
        (capture, *fact)
        for capture, each in seen.items()
        for _, finding in run(each, (check,))
        if (fact := tie.of_finding(finding)) is not None
    }
    analysed = {
        (row["capture"], *fact)
        for row in tie.analysis(exchanges).collect()
        if (fact := tie.of_row(row)) is not None
    }
    assert checked & analysed
    assert tie.only.startswith(CHECK) or checked - analysed == set()
    assert tie.only.startswith(ANALYSIS) or analysed - checked == set()
