"""The report's sections, in order: a literal table."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.report.parts import Section
from barnabas.pipeline.report.sections import (
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
    unread,
    versions,
)

SECTIONS: Final = (
    Section(
        "unread",
        "What could not be read",
        "What of the captures is in none of the figures below?",
        unread.draw,
    ),
    Section(
        "findings",
        "Findings",
        "What breaks a rule of the protocol, or a promise of its clients and brokers?",
        findings.draw,
    ),
    Section(
        "latency", "Latency", "How long do clients wait, and when did it change?", latency.draw
    ),
    Section(
        "latency_heatmap",
        "Spread of latencies",
        "Is everything a little slow, or a little very slow?",
        latency_heatmap.draw,
    ),
    Section("errors", "Errors", "Which clients are told no, by what, and when?", errors.draw),
    Section("retries", "Retry storms", "Who asks the same over and over?", retries.draw),
    Section(
        "rebalances",
        "Rebalances",
        "Who joined, who was late, and how long did delivery stand still?",
        rebalances.draw,
    ),
    Section(
        "heartbeats",
        "Heartbeats",
        "How near did members come to the end of their sessions?",
        heartbeats.draw,
    ),
    Section("commits", "Commits", "Was anything read twice, or passed over?", commits.draw),
    Section("in_flight", "Pipelining", "How many requests are under way at once?", in_flight.draw),
    Section(
        "partition_order",
        "Order in partitions",
        "Did a producer's batches arrive in another order than they were numbered?",
        partition_order.draw,
    ),
    Section("hot_partitions", "Hot partitions", "Where does the load go?", hot_partitions.draw),
    Section(
        "versions",
        "Versions",
        "What would stop working after an upgrade of the brokers?",
        versions.draw,
    ),
    Section(
        "rules",
        "Rules and their effect",
        "What did the faults that were put in do to clients?",
        rules.draw,
    ),
)
"""A new section: its file in `sections`, and a line here."""
