"""What pipelining gains: messages a second of the blocking producer of 0.8 and of the pipelined one.

The latency is made by a proxy in a process of its own, which lets each Produce response leave later;
responses do not wait for each other. Rounds go over all arms, so that what else the machine does
meets all of them alike.
"""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any, Final

from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.designs.pipelined_producer.peers import BLOCKING_0_8, Settings
from barnabas.experiments import plots
from barnabas.experiments.diagram import Step, sequence, steps
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.peers.apache import ApacheCluster

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
    """All arms at all latencies, one after the other, in rounds."""
    how: dict[str, Any] = {
        "versions": VERSIONS,
        "latencies": LATENCIES,
        "messages": MESSAGES,
        "rounds": ROUNDS,
        **(SHORT if bench.short else {}),
    }
    total = len(how["versions"]) * len(how["latencies"]) * how["rounds"] * len(ARMS)
    runs: list[producing.Run] = []
    drawn: dict[str, list[Step]] = {}
    for version in how["versions"]:
        settings = {"num.partitions": str(PARTITIONS)}
        with ApacheCluster(version, BROKERS, settings=settings) as cluster:
            producing.make_topic(cluster.brokers.values(), "throughput")
            own = _rounds(bench, cluster, version, how, len(runs), total)
            for captured, made in own:
                runs += made
                drawn |= captured
    return {
        "how": {**how, "partitions": PARTITIONS, "batch": BATCH, "brokers": BROKERS},
        "runs": runs,
        "drawn": drawn,
    }


def _rounds(
    bench: Bench,
    cluster: ApacheCluster,
    version: str,
    how: dict[str, Any],
    done: int,
    total: int,
) -> list[tuple[dict[str, list[Step]], list[producing.Run]]]:
    """Of each latency: what is drawn, and the runs with what the capture says of them."""
    made: dict[int, list[producing.Run]] = {latency: [] for latency in how["latencies"]}
    with producing.distant(bench, cluster.bootstrap, how["latencies"], f"{version}-") as proxies:
        for number in range(how["rounds"]):
            for latency, proxy in proxies.items():
                for arm, settings in ARMS:
                    bench.step(done, total, f"Kafka {version}, {latency} ms, {arm}")
                    own = settings
                    if settings.produce_version == 0 and not version.startswith("0.8"):
                        own = replace(settings, produce_version=None)  # v0 is gone there
                    client_id = f"{arm}, round {number}"
                    found = producing.produce(
                        address_of(proxy),
                        own,
                        client_id,
                        "throughput",
                        range(PARTITIONS),
                        how["messages"],
                    )
                    about = {"version": version, "latency": latency, "arm": arm}
                    made[latency].append({**about, "client_id": client_id, **found})
                    done += 1
    return [_seen(version, latency, proxies[latency].capture, made[latency]) for latency in made]


def _seen(
    version: str, latency: int, capture: Any, runs: list[producing.Run]
) -> tuple[dict[str, list[Step]], list[producing.Run]]:
    by_client = producing.produced(capture)
    shown = {}
    for one in runs:
        exchanges = by_client[one.pop("client_id")]
        one |= producing.seen(exchanges)
        if one["arm"] in SHOWN and latency == max(LATENCIES):
            # behind those that made the connections
            shown[f"{version}: {one['arm']}"] = steps(exchanges[PARTITIONS : PARTITIONS + DRAWN])
    return shown, runs


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [
        f"{how['messages']} messages of 100 bytes a run, to {how['partitions']} partitions on "
        f"{how['brokers']} brokers, acks=1, batches of {how['batch']} messages of a partition; "
        f"{how['rounds']} rounds. Latency: the proxy lets each Produce response leave so much later. "
        "Figures are messages a second: the median, and in brackets the slowest and the fastest run. "
        "The blocking producer has one request in flight over all brokers, one queue, and metadata "
        "that block, as 0.8's had."
    ]
    for version in how["versions"]:
        own = [one for one in runs if one["version"] == version]
        parts += [f"## Kafka {version}", _table(own, how["latencies"]), _follows(own, how)]
    parts += [f"### The first requests at {max(how['latencies'])} ms"] if measured["drawn"] else []
    for name, drawn in measured["drawn"].items():
        parts.append(f"Kafka {name}\n\n```mermaid\n{sequence(drawn)}\n```")
    parts.append(
        "## What limits this\n\nProducers, brokers and proxy share one machine, and the producer is "
        "written in Python: with little latency or many requests in flight it is their work that is "
        "measured, the more so the higher the load above. Latency alone would let n in flight to each "
        f"of {how['brokers']} brokers carry n x {how['brokers']} times what one request in all does."
    )
    return "\n\n".join(parts) + "\n"


def rates(runs: list[producing.Run], arm: str, latency: int) -> list[float]:
    """Messages a second of each run of an arm, the slowest first."""
    return producing.rates(producing.of(runs, arm=arm, latency=latency))


def _table(runs: list[producing.Run], latencies: Any) -> str:
    lines = [
        "| arm | " + " | ".join(f"{latency} ms" for latency in latencies) + " | seen in flight |",
        "|---|" + "---|" * (len(latencies) + 1),
    ]
    for arm, _ in ARMS:
        cells = []
        for latency in latencies:
            found = rates(runs, arm, latency)
            cells.append(f"{statistics.median(found):.0f} ({found[0]:.0f}-{found[-1]:.0f})")
        own = [one for one in runs if one["arm"] == arm]
        most = max(one["in_flight"] for one in own)
        total = max(one["in_flight_total"] for one in own)
        cells.append(f"{most} of a connection, {total} in all")
        lines.append(f"| {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _follows(runs: list[producing.Run], how: dict[str, Any]) -> str:
    said = []
    for latency in how["latencies"]:
        blocking = statistics.median(rates(runs, BLOCKING, latency))
        ratios = ", ".join(
            f"{statistics.median(rates(runs, arm, latency)) / blocking:.1f} times ({arm})"
            for arm, _ in ARMS[1:]
        )
        said.append(f"- At {latency} ms, against the blocking producer: {ratios}.")
    ordered = sum(one["in_order"] for one in runs)
    problems = sum(sum(one["problems"].values()) for one in runs)
    said.append(
        f"- Order: in {ordered} of {len(runs)} runs each partition has its messages in the order in "
        f"which they were sent; {problems} messages were not acknowledged."
    )
    return "\n".join(said)


def drawn(measured: Measured) -> dict[str, str]:
    """A plot for each version."""
    return {
        version: plots.lines(
            f"Throughput, Kafka {version}",
            "latency (ms)",
            "messages a second",
            {
                arm: [
                    (one["latency"], one["messages"] / one["seconds"])
                    for one in measured["runs"]
                    if (one["version"], one["arm"]) == (version, arm)
                ]
                for arm, _ in ARMS
            },
        )
        for version in measured["how"]["versions"]
    }


EXPERIMENT: Final = Experiment(
    "How much throughput do several requests in flight per broker gain, at which latency?",
    VERSIONS,
    run,
    write,
    drawn,
)
