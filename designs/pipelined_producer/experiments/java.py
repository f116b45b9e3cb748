"""The document's producers beside the one that came of it: Kafka's Java producer, at the same latencies.

One broker, so that the warm-up of `JavaClient.pace` makes the one connection that there is. Batches are
alike: ten messages of a partition, sent at once. Java's producer with its defaults is an arm of its own.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any, Final

from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.experiments import plots
from barnabas.experiments.experiment import Bench, Between, Experiment, Measured, address_of
from barnabas.experiments.intervals import middle
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient

VERSION: Final = "4.3.1"
TOPIC: Final = "java"
LATENCIES: Final = (0, 5, 20, 100)
"""Milliseconds."""
PARTITIONS, BATCH = 4, 10
MESSAGES, ROUNDS = 1200, 6
SHORT: Final = {"latencies": (0, 20), "messages": 200, "rounds": 1}
AT_ONCE: Final = 1_000_000_000
"""Messages a second that are due: all, from the beginning on."""
BATCH_SIZE: Final = 1200
"""batch.size: ten records of 100 bytes take 1151 to 1161 bytes in a batch of magic 2, eleven "
"1260."""

BLOCKING: Final = "blocking 0.8"
OURS: Final = "pipelined, 5 in flight"
JAVA: Final = "Java, 5 in flight"
DEFAULTS: Final = "Java, its defaults"


def _java(in_flight: int) -> dict[str, str]:
    return {
        "acks": "1",
        "enable.idempotence": "false",
        "max.in.flight.requests.per.connection": str(in_flight),
        "linger.ms": "0",
        "batch.size": str(BATCH_SIZE),
        "partitioner.class": "org.apache.kafka.clients.producer.RoundRobinPartitioner",
    }


ARMS: Final[tuple[tuple[str, Settings | dict[str, str]], ...]] = (
    (BLOCKING, replace(BLOCKING_0_8, batch_messages=BATCH, produce_version=None)),
    ("pipelined, 1 in flight", Settings(in_flight=1, batch_messages=BATCH)),
    (OURS, Settings(in_flight=5, batch_messages=BATCH)),
    ("Java, 1 in flight", _java(1)),
    (JAVA, _java(5)),
    (DEFAULTS, {}),
)


def run(bench: Bench) -> Measured:
    """All arms at all latencies, in rounds."""
    how: dict[str, Any] = {"latencies": LATENCIES, "messages": MESSAGES, "rounds": ROUNDS}
    how |= SHORT if bench.short else {}
    total = len(how["latencies"]) * how["rounds"] * len(ARMS)
    runs: list[producing.Run] = []
    with ApacheCluster(VERSION, settings={"num.partitions": str(PARTITIONS)}) as cluster:
        producing.make_topic(cluster.brokers.values(), TOPIC)
        with (
            JavaClient(VERSION, {}) as java,
            producing.distant(bench, cluster.bootstrap, how["latencies"]) as proxies,
        ):
            for number in range(how["rounds"]):
                for latency, proxy in proxies.items():
                    for arm, settings in ARMS:
                        bench.step(len(runs), total, f"{latency} ms, {arm}")
                        name = f"{arm}, round {number}"
                        if isinstance(settings, Settings):
                            found = producing.produce(
                                address_of(proxy),
                                settings,
                                name,
                                TOPIC,
                                range(PARTITIONS),
                                how["messages"],
                            )
                        else:
                            found = by_java(java, proxy, settings, name, how["messages"])
                        about = {"latency": latency, "arm": arm, "round": number}
                        runs.append({**about, **found})
    for latency, proxy in proxies.items():
        by_client = producing.produced(proxy.capture)
        for one in producing.of(runs, latency=latency):
            one |= producing.seen(by_client[f"{one['arm']}, round {one['round']}"])
    return {"how": {**how, "partitions": PARTITIONS, "batch": BATCH}, "runs": runs}


def by_java(
    java: JavaClient, proxy: Between, settings: dict[str, str], name: str, count: int
) -> producing.Run:
    """The same with Kafka's producer: seconds until the last acknowledgement. Raises JavaError."""
    own = {**settings, "bootstrap.servers": proxy.bootstrap_server, "client.id": name}
    took = java.pace(TOPIC, count, size=100, rate=AT_ONCE, settings=own)
    return {"seconds": round(max(took) / 1e6, 4), "messages": count, "problems": {}}


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| producer | "
        + " | ".join(f"{latency} ms" for latency in how["latencies"])
        + " | seen in flight | messages in a request |",
        "|---|" + "---|" * (len(how["latencies"]) + 2),
    ]
    for arm, _ in ARMS:
        own = producing.of(runs, arm=arm)
        cells = [middle(_rates(runs, arm, latency)) for latency in how["latencies"]]
        cells.append(str(max(one["in_flight"] for one in own)))
        full = sum(one["messages"] for one in own) / sum(one["requests"] for one in own)
        lines.append(f"| {arm} | {' | '.join(cells)} | {full:.0f} |")
    said = [
        f"- At {latency} ms Java's producer moves {_times(runs, JAVA, OURS, latency)} as many "
        "messages as the pipelined one with as many in flight, "
        f"{_times(runs, DEFAULTS, OURS, latency)} as many with its defaults. Against the blocking "
        f"one: {_times(runs, OURS, BLOCKING, latency)} (pipelined), "
        f"{_times(runs, JAVA, BLOCKING, latency)} (Java)."
        for latency in how["latencies"]
    ]
    return (
        f"Kafka {VERSION}, one broker, and kafka-clients {VERSION} for Java's producer, driven "
        "through JPype (JIT of the first tier only). "
        f"{how['messages']} messages of 100 bytes a run, as fast as they are taken, to "
        f"{how['partitions']} partitions in turn; {how['rounds']} rounds. All but the last arm: "
        f"acks=1, no idempotence, no linger, batches of {how['batch']} messages (Java: "
        f"batch.size={BATCH_SIZE}, RoundRobinPartitioner). Its defaults: acks=all with "
        "idempotence, 5 in flight, batch.size=16384, linger.ms=5, and its own choice of "
        "partitions. Latency: the proxy lets each Produce response leave so much later. Figures "
        "are messages a second: medians, in brackets the values between which they lie (95 % "
        "from six rounds on). Requests are counted with those before the clock starts.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        + "\n".join(said)
        + "\n\n## What limits this\n\nProducers, broker and proxy share one machine. With little "
        "latency it is their work that is measured, and one producer is written in Python; where "
        "latency rules, the producers are held against each other by their design.\n"
    )  # fmt: skip


def _rates(runs: list[producing.Run], arm: str, latency: int) -> list[float]:
    return producing.rates(producing.of(runs, arm=arm, latency=latency))


def _times(runs: list[producing.Run], arm: str, other: str, latency: int) -> str:
    """How many times as much one arm does as another.

    >>> run = {"latency": 0, "messages": 6}
    >>> _times([{**run, "arm": "a", "seconds": 2}, {**run, "arm": "b", "seconds": 3}], "a", "b", 0)
    '1.5 times'
    """
    own, theirs = (statistics.median(_rates(runs, name, latency)) for name in (arm, other))
    return f"{own / theirs:.1f} times"


def drawn(measured: Measured) -> dict[str, str]:
    """Messages a second by latency."""
    series = {
        arm: [
            (one["latency"], one["messages"] / one["seconds"])
            for one in producing.of(measured["runs"], arm=arm)
        ]
        for arm, _ in ARMS
    }
    title = f"Throughput, Kafka {VERSION}"
    return {"rate": plots.lines(title, "latency (ms)", "messages a second", series)}


EXPERIMENT: Final = Experiment(
    "How does the pipelined producer compare with today's Java producer, at which latency?",
    (VERSION,),
    run,
    write,
    drawn,
)
