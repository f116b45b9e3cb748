"""The registry of all analyses, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from pyspark.sql import DataFrame

from barnabas.pipeline.analyses import (
    classic_steps,
    commits,
    connections,
    epoch_steps,
    errors,
    findings,
    heartbeats,
    hot_partitions,
    in_flight,
    lag,
    latency,
    latency_heatmap,
    logins,
    rebalances,
    retries,
    rules,
    throttling,
    topics,
    versions,
)
from barnabas.pipeline.rows.columns import Column


class Analysis(NamedTuple):
    """An analysis of the table `exchanges`."""

    run: Callable[[DataFrame], DataFrame]
    """A function from the table `exchanges`, with `body`, to an unordered table of `columns`."""
    columns: tuple[Column, ...]
    wide: bool = False
    """Whether it needs columns of `barnabas.pipeline.analyses.inputs.WIDE`."""
    bodies: tuple[str, ...] = ()
    """APIs whose bodies it reads."""
    at_once: Callable[[DataFrame], DataFrame] | None = None
    """A faster function with the same result, if one task suffices for the whole table."""

    @property
    def name(self) -> str:
        """Return the name of the analysis, which is that of its function."""
        return self.run.__name__


ANALYSES: Final = (
    Analysis(latency.latency, latency.COLUMNS),
    Analysis(latency_heatmap.latency_heatmap, latency_heatmap.COLUMNS),
    Analysis(errors.errors, errors.COLUMNS),
    Analysis(findings.findings, findings.COLUMNS, wide=True, at_once=findings.in_one_pass),
    Analysis(
        rebalances.rebalances,
        rebalances.COLUMNS,
        wide=True,
        bodies=(*classic_steps.APIS, *epoch_steps.APIS),
    ),
    Analysis(
        heartbeats.heartbeats,
        heartbeats.COLUMNS,
        wide=True,
        bodies=(*heartbeats.CLASSIC, *heartbeats.NEW),
    ),
    Analysis(commits.commits, commits.COLUMNS, wide=True),
    Analysis(in_flight.in_flight, in_flight.COLUMNS),
    Analysis(hot_partitions.hot_partitions, hot_partitions.COLUMNS, wide=True),
    Analysis(retries.retries, retries.COLUMNS),
    Analysis(versions.versions, versions.COLUMNS),
    Analysis(rules.rules, rules.COLUMNS),
    Analysis(throttling.throttling, throttling.COLUMNS),
    Analysis(lag.lag, lag.COLUMNS, wide=True),
    Analysis(topics.topics, topics.COLUMNS, wide=True),
    Analysis(logins.logins, logins.COLUMNS),
    Analysis(connections.connections, connections.COLUMNS),
)
