"""Runs of producers through a proxy, and figures from its capture."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers import Outcome, PipelinedProducer, Settings
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column
from barnabas.designs.results.intervals import middle
from barnabas.designs.results.runs import Run, group, select
from barnabas.experiments.experiment import QUIET, Bench, address_of

PATIENCE = 120.0
"""Timeout of a run in seconds."""


def late_answers(latency: int) -> str:
    """Return a scenario in which Produce responses leave some milliseconds later."""
    rule = "{name: far away, match: {api: Produce, direction: response}"
    return f"version: 1\nrules: [{rule}, do: {{delay: {latency}ms}}}}]\n" if latency else QUIET


def in_rounds(
    bench: Bench,
    servers: str,
    scenarios: Mapping[str, str],
    how: Mapping[str, Any],
    arms: Iterable[tuple[Any, ...]],
    step: Callable[[str], None],
    send: Callable[..., Run] | None = None,
) -> list[tuple[str, Run, list[Exchange]]]:
    """Run all arms in rounds, through a proxy for each scenario.

    Args:
        bench: Gives the proxies.
        servers: The brokers' bootstrap servers.
        scenarios: By name.
        how: The experiment's settings; `rounds` is how often each arm runs.
        arms: A name, and arguments of `send`.
        step: Gets a description of each run before it.
        send: Gets the proxy's address, a client id, and the arm's arguments; `produce` by default.

    Returns:
        The scenario's name, the run, and its Produce requests as the proxy's capture shows them.
    """
    runs: dict[str, list[Run]] = {name: [] for name in scenarios}
    with ExitStack() as stack:
        proxies = {
            name: stack.enter_context(bench.between(servers, scenario, name))
            for name, scenario in scenarios.items()
        }
        for number, name, (arm, *arguments) in product(range(how["rounds"]), scenarios, arms):
            step(f"{name}, {arm}")
            result = (send or produce)(
                address_of(proxies[name]), f"{arm}, round {number}", *arguments
            )
            runs[name].append({"arm": arm, "round": number, **result})
    captured = {name: produced(proxy.capture) for name, proxy in proxies.items()}
    return [
        (name, run, captured[name][f"{run['arm']}, round {run['round']}"])
        for name, scenario_runs in runs.items()
        for run in scenario_runs
    ]


def produce(
    bootstrap: Address,
    client_id: str,
    settings: Settings,
    topic: str,
    partitions: Sequence[int],
    count: int,
    producers: int = 1,
) -> Run:
    """Send numbered messages of 100 bytes to the partitions in turn, and wait until all are reported.

    Connections, versions and metadata exist before the clock starts.

    Args:
        bootstrap: A broker or a proxy.
        client_id: The producers' client id.
        settings: The producers' settings.
        topic: The topic.
        partitions: Its partitions.
        count: The number of messages.
        producers: The number of producers, which take turns; it divides the number of partitions.

    Returns:
        Seconds, messages, whether each partition has them in the order of sending, and problems.
    """
    outcomes: list[Outcome] = []
    client_settings = replace(settings, client_id=client_id)
    with ExitStack() as stack:
        clients = [
            stack.enter_context(closing(PipelinedProducer([bootstrap], client_settings)))
            for _ in range(producers)
        ]
        for number, partition in enumerate(partitions):
            clients[number % producers].send(topic, b"first", partition=partition)
        if sum(item.flush(PATIENCE) for item in clients):
            raise TimeoutError(f"{client_id}: nothing gets through")
        begun = time.perf_counter()
        for number in range(count):
            value, partition = b"%0100d" % number, partitions[number % len(partitions)]
            clients[number % producers].send(
                topic, value, partition=partition, told=outcomes.append, wait=PATIENCE
            )
        unsent = sum(item.flush(PATIENCE) for item in clients)
        seconds = time.perf_counter() - begun
    if unsent:
        raise TimeoutError(f"{client_id}: {unsent} of {count} messages are not reported")
    return {
        "seconds": round(seconds, 4),
        "messages": count,
        "in_order": in_order(outcomes),
        "problems": dict(Counter(item.problem for item in outcomes if item.problem is not None)),
    }


def in_order(outcomes: Iterable[Outcome]) -> bool:
    """Check that the acknowledged messages of each partition are in the order of sending."""
    offsets_by_partition: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.problem is None:
            offsets_by_partition[outcome.event.partition].append(
                (int(outcome.event.value), outcome.offset)
            )
    return all(
        before[1] < after[1]
        for each in offsets_by_partition.values()
        for before, after in pairwise(sorted(each))
    )


def produced(capture: Path) -> dict[str, list[Exchange]]:
    """Return the Produce exchanges of a capture by client id, in the order of their requests."""
    exchanges_by_client: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in Conversations().exchanges(CaptureReader(capture)):
        if exchange.api == "Produce":
            exchanges_by_client[exchange.client_id or ""].append(exchange)
    return {
        name: sorted(each, key=lambda exchange: exchange.ts)
        for name, each in exchanges_by_client.items()
    }


def most_under_way(exchanges: Sequence[Exchange], *, by_connection: bool) -> int:
    """Return the largest number of requests in flight, on one connection or on all."""
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for exchange in exchanges:
        span = (exchange.ts, exchange.ts + (exchange.latency_ms or 0) * 1e6)
        spans[exchange.connection if by_connection else 0].append(span)
    return max(
        (
            sum(begin <= at < end for begin, end in each)
            for each in spans.values()
            for at, _ in each
        ),
        default=0,
    )


def in_flight_counts(exchanges: Sequence[Exchange]) -> dict[str, int]:
    """Return the number of a run's requests, and how many were in flight."""
    return {
        "requests": len(exchanges),
        "in_flight": most_under_way(exchanges, by_connection=True),
        "in_flight_total": most_under_way(exchanges, by_connection=False),
    }


def rates(runs: Iterable[Run], **conditions: Any) -> list[float]:
    """Return the messages a second of the runs with these values, the slowest first."""
    return sorted(run["messages"] / run["seconds"] for run in select(runs, **conditions))


def rate_of(**conditions: Any) -> Column:
    """Return a column with the median rate of the runs with these values, and its bounds."""
    return lambda runs: middle(rates(runs, **conditions))


def rates_by_latency(title: str, runs: Iterable[Run]) -> str:
    """Plot the messages a second of each arm by latency."""
    series = {
        arm: [(run["latency"], run["messages"] / run["seconds"]) for run in arm_runs]
        for (arm,), arm_runs in group(runs, "arm").items()
    }
    return plots.lines(title, "latency (ms)", "messages a second", series)
