"""The document's producers compared with Kafka's Java producer, at the same latencies.

There is one broker, so that the warm-up of `JavaClient.pace` opens the only connection. Batches are alike:
ten messages of a partition, sent at once. Java's producer with its defaults is an arm of its own. It uses a
broker of today, and belongs to document 004: it compares that document's producer, with its runs.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Final

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results.columns import most, table_of
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run, figures
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient

QUESTION: Final = (
    "How does the pipelined producer compare with today's Java producer, at which latency?"
)
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
"""batch.size: ten records of 100 bytes take 1151 to 1161 bytes in a batch of magic 2, eleven 1260."""

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
    """Run all arms at all latencies, in rounds."""
    how = bench.settings(SHORT, latencies=LATENCIES, messages=MESSAGES, rounds=ROUNDS)
    step = bench.counter(len(how["latencies"]) * how["rounds"] * len(ARMS))
    count, latencies = how["messages"], {f"{each} ms": each for each in how["latencies"]}
    scenarios = {name: producer_runs.late_answers(latency) for name, latency in latencies.items()}
    with (
        ApacheCluster(VERSION, settings={"num.partitions": str(PARTITIONS)}) as cluster,
        JavaClient(VERSION, {}) as java,
    ):
        make_topic(cluster.brokers.values(), TOPIC)

        def send(address: Address, name: str, settings: Settings | dict[str, str]) -> Run:
            if isinstance(settings, Settings):
                partitions = range(PARTITIONS)
                return producer_runs.produce(address, name, settings, TOPIC, partitions, count)
            return by_java(java, address, settings, name, count)

        results = producer_runs.in_rounds(
            bench, cluster.bootstrap, scenarios, how, ARMS, step, send
        )
    runs = [
        {"latency": latencies[name], **each_run, **producer_runs.in_flight_counts(exchanges)}
        for name, each_run, exchanges in results
    ]
    return {"how": {**how, "partitions": PARTITIONS, "batch": BATCH}, "runs": runs}


def by_java(
    java: JavaClient, address: Address, settings: dict[str, str], name: str, count: int
) -> Run:
    """Send messages with Kafka's producer, until all are acknowledged. Raises JavaError."""
    client_settings = {**settings, "bootstrap.servers": "{}:{}".format(*address), "client.id": name}
    took = java.pace(TOPIC, count, size=100, rate=AT_ONCE, settings=client_settings)
    return {"seconds": round(max(took) / 1e6, 4), "messages": count, "problems": {}}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    sentences = (
        f"At {latency} ms Java's producer moves {_times(runs, JAVA, OURS, latency)} as many "
        "messages as the pipelined one with as many in flight, "
        f"{_times(runs, DEFAULTS, OURS, latency)} as many with its defaults. Against the blocking "
        f"one: {_times(runs, OURS, BLOCKING, latency)} (pipelined), "
        f"{_times(runs, JAVA, BLOCKING, latency)} (Java)."
        for latency in how["latencies"]
    )
    return paragraphs(
        f"Kafka {VERSION}, one broker, and kafka-clients {VERSION} for Java's producer, driven "
        "through JPype (JIT of the first tier only). "
        f"{how['messages']} messages of 100 bytes a run, as fast as they are taken, to "
        f"{how['partitions']} partitions in turn; {how['rounds']} rounds. All but the last arm: "
        f"acks=1, no idempotence, no linger, batches of {how['batch']} messages (Java: "
        f"batch.size={BATCH_SIZE}, RoundRobinPartitioner). Its defaults: acks=all with "
        "idempotence, 5 in flight, batch.size=16384, linger.ms=5, and its own choice of "
        "partitions. Latency: the proxy lets each Produce response leave so much later. Figures "
        "are messages a second: medians, in brackets the values between which they lie (95 % "
        "from six rounds on). Requests are counted with those before the clock starts.",
        table_of(
            runs,
            {
                "producer": "arm",
                **{f"{each} ms": producer_runs.rate_of(latency=each) for each in how["latencies"]},
                "seen in flight": most("in_flight"),
                "messages in a request": lambda cell_runs: (
                    f"{sum(figures(cell_runs, 'messages')) / sum(figures(cell_runs, 'requests')):.0f}"
                ),
            },
        ),
        "## What follows",
        bullets(sentences),
        "## What limits this",
        "Producers, broker and proxy share one machine. With little "
        "latency it is their work that is measured, and one producer is written in Python; where "
        "latency rules, the producers are held against each other by their design.",
    )


def _times(runs: list[Run], arm: str, other: str, latency: int) -> str:
    """Write the ratio of two arms' messages a second."""
    our_rates, theirs = (
        statistics.median(producer_runs.rates(runs, arm=name, latency=latency))
        for name in (arm, other)
    )
    return f"{our_rates / theirs:.1f} times"


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the messages a second by latency."""
    return {
        "rate": producer_runs.rates_by_latency(f"Throughput, Kafka {VERSION}", measured["runs"])
    }


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write, drawn)
