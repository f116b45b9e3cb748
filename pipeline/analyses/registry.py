"""The registry: every analysis, in the order of the report."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.analyses import (
    commits,
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

# fmt: off
ANALYSES: Final = (
    Analysis("latency", "How long do clients wait, by API, client and broker over time?",
             latency.latency, latency.COLUMNS),
    Analysis("latency_heatmap", "How are latencies distributed over time?",
             latency_heatmap.latency_heatmap, latency_heatmap.COLUMNS),
    Analysis("errors", "Which errors did which client meet, and when?",
             errors.errors, errors.COLUMNS),
    Analysis("findings", "What do the checks of captures find to be wrong?",
             findings.findings, findings.COLUMNS),
    Analysis("rebalances", "Who joined a group, who was late, how long did delivery stand still?",
             rebalances.rebalances, rebalances.COLUMNS),
    Analysis("heartbeats", "How close did members come to their session's end?",
             heartbeats.heartbeats, heartbeats.COLUMNS),
    Analysis("commits", "What do groups commit against what they fetch; what is read twice or never?",
             commits.commits, commits.COLUMNS),
    Analysis("in_flight", "How many requests are under way on a connection at a time?",
             in_flight.in_flight, in_flight.COLUMNS),
    Analysis("partition_order", "Which records are in another order than they were sent in?",
             partition_order.partition_order, partition_order.COLUMNS),
    Analysis("hot_partitions", "Which topics and partitions carry the load?",
             hot_partitions.hot_partitions, hot_partitions.COLUMNS),
    Analysis("retries", "Who sends what fails again and again?",
             retries.retries, retries.COLUMNS),
    Analysis("versions", "Which clients use versions that an upgrade takes away?",
             versions.versions, versions.COLUMNS),
    Analysis("rules", "What did fault rules do to the exchanges that they touched?",
             rules.rules, rules.COLUMNS),
)
# fmt: on
