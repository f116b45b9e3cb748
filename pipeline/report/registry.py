"""The report's sections, in order."""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.report.parts import Section
from barnabas.pipeline.report.sections import (
    commits,
    connections,
    errors,
    findings,
    heartbeats,
    hot_partitions,
    in_flight,
    lag,
    latency,
    latency_clients,
    latency_heatmap,
    logins,
    rebalances,
    retries,
    rules,
    throttling,
    topics,
    unread,
    versions,
)

# fmt: off
SECTIONS: Final = (
    Section("unread", "Unreadable parts",
            "Which parts of the captures are missing from the figures below?", unread.draw),
    Section("findings", "Findings",
            "What violates the protocol, or a guarantee of clients and brokers?", findings.draw,
            ("findings_by_check",)),
    Section("logins", "Logins", "Whose logins fail, and why?", logins.draw),
    Section("lag", "Lag", "Which groups are behind, and which are stuck?", lag.draw, ("lag_partitions",)),
    Section("throttling", "Throttling", "Which client is slowed down, by which quota, for how long?",
            throttling.draw),
    Section("topics", "Topics", "Who writes and who reads each topic?", topics.draw),
    Section("latency_clients", "Latency by client and broker",
            "Whose latency to which broker rose, and when? Who waits longer than its peers?",
            latency_clients.draw, ("outliers",)),
    Section("latency", "Latency", "How long do clients wait, and when did it change?", latency.draw),
    Section("latency_heatmap", "Latency distribution",
            "Is everything somewhat slow, or a few exchanges very slow?", latency_heatmap.draw),
    Section("errors", "Errors", "Which clients get errors, from which APIs, and when?", errors.draw,
            ("errors_over_time",)),
    Section("retries", "Retry storms", "Which clients retry the same request repeatedly?", retries.draw),
    Section("rebalances", "Rebalances",
            "Who joined, who was late, and how long did delivery stop?", rebalances.draw),
    Section("heartbeats", "Heartbeats",
            "How close did members come to their session timeout?", heartbeats.draw),
    Section("commits", "Commits", "Were records consumed twice, or skipped?", commits.draw),
    Section("in_flight", "Requests in flight",
            "How many requests does a client have in flight at once?", in_flight.draw,
            ("in_flight_clients",)),
    Section("hot_partitions", "Hot partitions", "Which partitions carry the load?", hot_partitions.draw),
    Section("connections", "Connections", "Who opens connections again and again?", connections.draw),
    Section("versions", "Versions", "What stops working when the brokers are upgraded?", versions.draw),
    Section("rules", "Effect of rules", "What did the injected faults do to clients?", rules.draw),
)
# fmt: on
"""To add a section, add its file to `sections`, and a line here."""
