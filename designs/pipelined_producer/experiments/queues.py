"""The two choices of queueing: what a loud topic does to a quiet one, and what queues take in memory.

A loud topic is sent to as fast as it goes, and what finds no room is dropped; a quiet one (the
document's audit data) gets a message every 10 ms. A broker behind a latency of 20 ms is the slower one.
Memory is counted in this process, without brokers.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections import Counter
from contextlib import closing
from typing import Any, Final, Literal

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.designs.pipelined_producer.peers import (
    Outcome,
    PipelinedProducer,
    QueueFull,
    Settings,
)
from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.queues import OneQueue, PartitionQueues, Queues
from barnabas.experiments import plots
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.peers.apache import ApacheCluster

VERSION: Final = "0.8.2.2"
ROOM: Final = 500
"""Messages that a queue has room for."""
QUIET, ROUNDS = 200, 10
"""Messages of the quiet topic in a run, and runs of each arm."""
SHORT: Final = {"quiet": 50, "rounds": 1}
PACE: Final = 0.01
"""Seconds between two messages of the quiet topic."""
EVENTS: Final = 10_000
SPREADS: Final = (1, 100, 10_000)
"""Partitions over which so many events are spread, for memory."""

SLOW: Final = """
version: 1
rules: [{name: far away, match: {api: Produce, direction: response}, do: {delay: 20ms}}]
"""

Choice = Literal["partition", "one"]
ARMS: Final[tuple[tuple[str, Choice], ...]] = (
    ("a queue per partition", "partition"),
    ("one queue for all", "one"),
)


def run(bench: Bench) -> Measured:
    """Both arms in rounds, then memory."""
    how: dict[str, Any] = {"quiet": QUIET, "rounds": ROUNDS, **(SHORT if bench.short else {})}
    runs: list[producing.Run] = []
    with ApacheCluster(VERSION) as cluster:
        for topic in ("loud", "quiet"):
            producing.make_topic(cluster.brokers.values(), topic)
        with bench.proxy(cluster.bootstrap, SLOW, bench.folder) as proxy:
            for _ in range(how["rounds"]):
                for arm, queueing in ARMS:
                    bench.step(len(runs), len(ARMS) * how["rounds"], arm)
                    runs.append({"arm": arm, **loud_and_quiet(address_of(proxy), queueing, how)})
    memory = [
        {"arm": arm, "partitions": spread, "bytes": memory_of(queueing, spread)}
        for spread in SPREADS
        for arm, queueing in ARMS
    ]
    return {"how": how, "runs": runs, "memory": memory}


def loud_and_quiet(bootstrap: Address, queueing: Choice, how: dict[str, Any]) -> producing.Run:
    """One run: how many of each topic were dropped, and how long the quiet one's took (ms)."""
    waited: list[float] = []
    problems: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    sent: Counter[str] = Counter()

    def told(outcome: Outcome) -> None:
        if outcome.problem is not None:
            problems[outcome.problem] += 1
        elif outcome.event.topic == "quiet":
            waited.append((time.monotonic() - outcome.event.enqueued) * 1e3)

    settings = Settings(in_flight=2, batch_messages=50, queueing=queueing, queue_messages=ROOM)
    producer = PipelinedProducer([bootstrap], settings)
    with closing(producer):
        for topic in ("loud", "quiet"):
            producer.send(topic, b"first", partition=0)
        producer.flush(producing.PATIENCE)
        due = time.monotonic()
        while sent["quiet"] < how["quiet"]:
            topic = "loud"
            if time.monotonic() >= due:
                topic, due = "quiet", due + PACE
            sent[topic] += 1
            try:
                producer.send(topic, bytes(100), partition=0, told=told)
            except QueueFull:
                dropped[topic] += 1
                time.sleep(0.0002)  # the send thread has its turn
        left = producer.flush(producing.PATIENCE)
    if left:
        raise TimeoutError(f"{queueing}: {left} messages are not reported")
    return {
        "quiet": sent["quiet"],
        "quiet_dropped": dropped["quiet"],
        "loud": sent["loud"],
        "loud_dropped": dropped["loud"],
        "quiet_ms": [round(one, 1) for one in sorted(waited)],
        "problems": dict(problems),
    }


def memory_of(queueing: Choice, partitions: int) -> int:
    """Bytes that queues take for EVENTS events in so many partitions, the events left out."""
    events = [Event("t", None, None, 0.0, number % partitions) for number in range(EVENTS)]
    tracemalloc.start()
    try:
        made = PartitionQueues if queueing == "partition" else OneQueue
        queues: Queues = made(EVENTS, Settings().batch_bytes)
        before = tracemalloc.get_traced_memory()[0]
        for event in events:
            queues.put(event)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| arm | quiet topic dropped | loud topic dropped | quiet topic: median ms, 99% within |",
        "|---|---|---|---|",
    ]
    for arm, _ in ARMS:
        own = [one for one in runs if one["arm"] == arm]
        waited = sorted(ms for one in own for ms in one["quiet_ms"])
        shares = [
            f"{sum(one[f'{topic}_dropped'] for one in own)} of {sum(one[topic] for one in own)}"
            for topic in ("quiet", "loud")
        ]
        times = "none got through"
        if waited:
            times = f"{statistics.median(waited):.0f}, {waited[int(len(waited) * 0.99)]:.0f}"
        lines.append(f"| {arm} | {shares[0]} | {shares[1]} | {times} |")
    memory = ["| partitions | " + " | ".join(arm for arm, _ in ARMS) + " |", "|---|---|---|"]
    for spread in SPREADS:
        cells = {
            one["arm"]: one["bytes"] for one in measured["memory"] if one["partitions"] == spread
        }
        memory.append(
            f"| {spread:,} | "
            + " | ".join(f"{cells[arm] / 1024:.0f} KiB" for arm, _ in ARMS)
            + " |"
        )
    return (
        f"## Isolation\n\nKafka {VERSION} behind 20 ms; a queue has room for {ROOM} messages; "
        f"{how['quiet']} messages of the quiet topic a run, one every {PACE * 1e3:.0f} ms, "
        f"{how['rounds']} rounds.\n\n" + "\n".join(lines) + "\n\n## Memory\n\n"
        f"What queues take for {EVENTS:,} events (CPython, the events themselves left out), spread "
        "over so many partitions:\n\n" + "\n".join(memory) + "\n\n"
        "The document expects of one queue per partition more isolation (\"this will protect important "
        "low throughput topics like audit data\") and more memory \"especially for tools like "
        "MirrorMaker\", which have many partitions.\n"
    )  # fmt: skip


def drawn(measured: Measured) -> dict[str, str]:
    """What became of the quiet topic, run by run."""
    lost = {
        arm: [
            100 * one["quiet_dropped"] / one["quiet"]
            for one in measured["runs"]
            if one["arm"] == arm
        ]
        for arm, _ in ARMS
    }
    return {"dropped": plots.dots("A quiet topic beside a loud one", "dropped (%)", lost)}


EXPERIMENT: Final = Experiment(
    "Which of the two queue designs protects a quiet topic from a loud one, and what does it cost?",
    (VERSION,),
    run,
    write,
    drawn,
)
