"""The gain of pipelining: messages a second of 0.8's blocking producer and of the pipelined one.

A proxy in a process of its own adds the latency: each Produce response leaves later, and responses do not
wait for each other. Rounds go over all arms, so that other load on the machine affects all of them alike. It
belongs to document 004, whose producer it compares with its predecessor.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any, Final

from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results.columns import Column, table_of
from barnabas.designs.results.diagram import Step, sequence, steps
from barnabas.designs.results.markdown import bullets, mermaid, paragraphs
from barnabas.designs.results.runs import Run, figures, group
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster

QUESTION: Final = (
    "How much throughput do several requests in flight per broker gain, at which latency?"
)
VERSIONS: Final = ("0.8.2.2", "4.3.1")
LATENCIES: Final = (0, 1, 5, 20)
"""Milliseconds."""
BROKERS, PARTITIONS, BATCH = 2, 4, 10
"""A request has a batch of this many messages of each of its broker's partitions."""
MESSAGES, ROUNDS = 1200, 5
SHORT: Final = {"versions": VERSIONS[:1], "latencies": (0, 20), "messages": 200, "rounds": 1}

BLOCKING: Final = "blocking 0.8"
ARMS: Final = (
    (BLOCKING, replace(BLOCKING_0_8, batch_messages=BATCH)),
    *(
        (f"pipelined, {n} in flight", Settings(in_flight=n, batch_messages=BATCH))
        for n in (1, 2, 5, 10)
    ),
)
SHOWN: Final = (BLOCKING, "pipelined, 5 in flight")
"""Arms whose first requests are drawn."""
DRAWN: Final = 6
"""Requests in a diagram."""


def run(bench: Bench) -> Measured:
    """Run all arms at all latencies, one after the other, in rounds."""
    how = bench.settings(
        SHORT, versions=VERSIONS, latencies=LATENCIES, messages=MESSAGES, rounds=ROUNDS
    )
    step = bench.counter(len(how["versions"]) * len(how["latencies"]) * how["rounds"] * len(ARMS))
    runs: list[Run] = []
    drawn: dict[str, list[Step]] = {}
    to = ("throughput", range(PARTITIONS), how["messages"])
    for version in how["versions"]:
        arms = [(arm, settings, *to) for arm, settings in ARMS]
        if not version.startswith("0.8"):  # without v0
            arms = [(arm, replace(each, produce_version=None), *to) for arm, each in ARMS]
        latencies = {f"Kafka {version}, {latency} ms": latency for latency in how["latencies"]}
        scenarios = {
            name: producer_runs.late_answers(latency) for name, latency in latencies.items()
        }
        settings = {"num.partitions": str(PARTITIONS)}
        with ApacheCluster(version, BROKERS, settings=settings) as cluster:
            make_topic(cluster.brokers.values(), to[0])
            results = producer_runs.in_rounds(bench, cluster.bootstrap, scenarios, how, arms, step)
        for name, each_run, exchanges in results:
            labels = {"version": version, "latency": latencies[name]}
            runs.append({**labels, **each_run, **producer_runs.in_flight_counts(exchanges)})
            if each_run["arm"] in SHOWN and latencies[name] == max(LATENCIES):
                # after those that opened the connections
                first = exchanges[PARTITIONS : PARTITIONS + DRAWN]
                drawn[f"{version}: {each_run['arm']}"] = steps(first)
    how |= {"partitions": PARTITIONS, "batch": BATCH, "brokers": BROKERS}
    return {"how": how, "runs": runs, "drawn": drawn}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [
        f"{how['messages']} messages of 100 bytes a run, to {how['partitions']} partitions on "
        f"{how['brokers']} brokers, acks=1, batches of {how['batch']} messages of a partition; "
        f"{how['rounds']} rounds. Latency: the proxy lets each Produce response leave so much later. "
        "Figures are messages a second: the median, and in brackets the slowest and the fastest run. "
        "The blocking producer has one request in flight over all brokers, one queue, and metadata "
        "that block, as 0.8's had."
    ]
    rates = {f"{latency} ms": _rate(latency) for latency in how["latencies"]}
    for (version,), version_runs in group(runs, "version").items():
        table = table_of(version_runs, {"arm": "arm", **rates, "seen in flight": _in_flight})
        parts += [f"## Kafka {version}", table, _follows(version_runs, how)]
    parts += [f"### The first requests at {max(how['latencies'])} ms"] if measured["drawn"] else []
    for name, drawn in measured["drawn"].items():
        parts += [f"Kafka {name}", mermaid(sequence(drawn))]
    parts.append(
        "## What limits this\n\nProducers, brokers and proxy share one machine, and the producer is "
        "written in Python: with little latency or many requests in flight it is their work that is "
        "measured, the more so the higher the load above. Latency alone would let n in flight to each "
        f"of {how['brokers']} brokers carry n x {how['brokers']} times what one request in all does."
    )
    return paragraphs(*parts)


def _rate(latency: int) -> Column:
    """Return a column with the median rate at a latency, the slowest run and the fastest."""

    def cell(cell_runs: list[Run]) -> str:
        rates = producer_runs.rates(cell_runs, latency=latency)
        return f"{statistics.median(rates):.0f} ({rates[0]:.0f}-{rates[-1]:.0f})"

    return cell


def _in_flight(cell_runs: list[Run]) -> str:
    most, total = (max(figures(cell_runs, name)) for name in ("in_flight", "in_flight_total"))
    return f"{most} of a connection, {total} in all"


def _follows(runs: list[Run], how: dict[str, Any]) -> str:
    sentences = []
    for latency in how["latencies"]:
        medians = {
            arm: statistics.median(producer_runs.rates(runs, arm=arm, latency=latency))
            for arm, _ in ARMS
        }
        blocking = medians.pop(BLOCKING)
        ratios = ", ".join(f"{each / blocking:.1f} times ({arm})" for arm, each in medians.items())
        sentences.append(f"At {latency} ms, against the blocking producer: {ratios}.")
    ordered = sum(run["in_order"] for run in runs)
    problems = sum(sum(run["problems"].values()) for run in runs)
    sentences.append(
        f"Order: in {ordered} of {len(runs)} runs each partition has its messages in the order in "
        f"which they were sent; {problems} messages were not acknowledged."
    )
    return bullets(sentences)


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the messages a second by latency, for each version."""
    return {
        version: producer_runs.rates_by_latency(f"Throughput, Kafka {version}", version_runs)
        for (version,), version_runs in group(measured["runs"], "version").items()
    }


EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, drawn)
