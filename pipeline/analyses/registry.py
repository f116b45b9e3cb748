"""The registry: every analysis, in the order of the report."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.analyses import (
    classic_phases,
    commits,
    epoch_phases,
    errors,
    findings,
    heartbeats,
    hot_partitions,
    in_flight,
    latency,
    latency_heatmap,
    partition_order,
    rebalances,
    retries,
    rules,
    versions,
)
from barnabas.pipeline.analyses.analysis import Analysis

ANALYSES: Final = (
    Analysis(latency.latency, latency.COLUMNS),
    Analysis(latency_heatmap.latency_heatmap, latency_heatmap.COLUMNS),
    Analysis(errors.errors, errors.COLUMNS),
    Analysis(findings.findings, findings.COLUMNS, wide=True, at_once=findings.in_one_pass),
    Analysis(
        rebalances.rebalances,
        rebalances.COLUMNS,
        wide=True,
        bodies=(*classic_phases.APIS, *epoch_phases.APIS),
    ),
    Analysis(
        heartbeats.heartbeats,
        heartbeats.COLUMNS,
        wide=True,
        bodies=(*heartbeats.CLASSIC, *heartbeats.NEW),
    ),
    Analysis(commits.commits, commits.COLUMNS, wide=True),
    Analysis(in_flight.in_flight, in_flight.COLUMNS),
    Analysis(partition_order.partition_order, partition_order.COLUMNS, wide=True),
    Analysis(hot_partitions.hot_partitions, hot_partitions.COLUMNS, wide=True),
    Analysis(retries.retries, retries.COLUMNS),
    Analysis(versions.versions, versions.COLUMNS),
    Analysis(rules.rules, rules.COLUMNS),
)
