"""What the experiments with producers share: a run through the proxy, and what its capture says."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.peers import Outcome, PipelinedProducer, Settings
from barnabas.designs.protocol_guide.client_0_8 import Client
from barnabas.experiments.experiment import Bench, Between

PATIENCE = 120.0
"""Seconds after which a run is given up."""

Run = dict[str, Any]


def make_topic(brokers: Iterable[Address], topic: str) -> None:
    """Have a topic made, and wait until each partition has a leader. Raises TimeoutError."""
    until = time.monotonic() + PATIENCE
    with Client(brokers, patience=0) as client:
        while topic not in (found := client.refresh([topic])).partitions or found.errors:
            if time.monotonic() > until:
                raise TimeoutError(f"{topic} has no leaders")
            time.sleep(0.1)


@contextmanager
def distant(
    bench: Bench, bootstrap: str, latencies: Iterable[int], name: str = ""
) -> Iterator[dict[int, Between]]:
    """A proxy for each latency (ms): it lets each Produce response leave so much later.

    name: what its folder's begins with.
    """
    with ExitStack() as stack:
        proxies = {}
        for latency in latencies:
            folder = bench.folder / f"{name}{latency}"
            folder.mkdir()
            rule = "{name: far away, match: {api: Produce, direction: response}"
            rules = f"[{rule}, do: {{delay: {latency}ms}}}}]" if latency else "[]"
            between = bench.proxy(bootstrap, f"version: 1\nrules: {rules}\n", folder)
            proxies[latency] = stack.enter_context(between)
        yield proxies


def produce(
    bootstrap: Address,
    settings: Settings,
    client_id: str,
    topic: str,
    partitions: Sequence[int],
    count: int,
    producers: int = 1,
) -> Run:
    """Send numbered messages of 100 bytes to the partitions in turn, and wait until all is reported.

    producers: that take turns, too; their number divides that of the partitions. Connections, versions and
    metadata are there before the clock starts. Gives seconds, whether each partition has them in the
    order in which they were sent, and how many were not acknowledged.
    """
    told: list[Outcome] = []
    own = replace(settings, client_id=client_id)
    with ExitStack() as stack:
        made = [
            stack.enter_context(closing(PipelinedProducer([bootstrap], own)))
            for _ in range(producers)
        ]
        for number, partition in enumerate(partitions):
            made[number % producers].send(topic, b"first", partition=partition)
        if sum(one.flush(PATIENCE) for one in made):
            raise TimeoutError(f"{client_id}: nothing gets through")
        begun = time.perf_counter()
        for number in range(count):
            value, partition = b"%0100d" % number, partitions[number % len(partitions)]
            made[number % producers].send(
                topic, value, partition=partition, told=told.append, wait=PATIENCE
            )
        left = sum(one.flush(PATIENCE) for one in made)
        seconds = time.perf_counter() - begun
    if left:
        raise TimeoutError(f"{client_id}: {left} of {count} messages are not reported")
    return {
        "seconds": round(seconds, 4),
        "messages": count,
        "in_order": in_order(told),
        "problems": dict(Counter(one.problem for one in told if one.problem is not None)),
    }


def in_order(told: Iterable[Outcome]) -> bool:
    """Whether what was acknowledged lies in each partition in the order in which it was sent."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for one in told:
        if one.problem is None:
            found[one.event.partition].append((int(one.event.value), one.offset))
    return all(
        before[1] < after[1] for each in found.values() for before, after in pairwise(sorted(each))
    )


def produced(capture: Path) -> dict[str, list[Exchange]]:
    """The Produce exchanges of a capture, by client id, in the order in which they began."""
    found: dict[str, list[Exchange]] = defaultdict(list)
    for one in Conversations().exchanges(CaptureReader(capture)):
        if one.api == "Produce":
            found[one.client_id or ""].append(one)
    return {name: sorted(each, key=lambda one: one.ts) for name, each in found.items()}


def most_under_way(exchanges: Sequence[Exchange], *, by_connection: bool) -> int:
    """How many requests waited for their answers at a time, on one connection or on all."""
    spans: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for one in exchanges:
        span = (one.ts, one.ts + (one.latency_ms or 0) * 1e6)
        spans[one.connection if by_connection else 0].append(span)
    return max(
        (
            sum(begin <= at < end for begin, end in each)
            for each in spans.values()
            for at, _ in each
        ),
        default=0,
    )


def seen(exchanges: Sequence[Exchange]) -> dict[str, int]:
    """What a capture says of a run's requests: how many, and how many were in flight."""
    return {
        "requests": len(exchanges),
        "in_flight": most_under_way(exchanges, by_connection=True),
        "in_flight_total": most_under_way(exchanges, by_connection=False),
    }


def rates(runs: Iterable[Run]) -> list[float]:
    """Messages a second of each run, the slowest first."""
    return sorted(one["messages"] / one["seconds"] for one in runs)


def of(runs: Iterable[Run], **about: Any) -> list[Run]:
    """The runs of which all this is said.

    >>> of([{"arm": "a", "seconds": 1}, {"arm": "b", "seconds": 2}], arm="b")
    [{'arm': 'b', 'seconds': 2}]
    """
    return [one for one in runs if all(one[name] == value for name, value in about.items())]
