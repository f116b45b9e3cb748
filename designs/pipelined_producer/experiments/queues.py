"""The two choices of queueing: the effect of a loud topic on a quiet one, and the memory of queues.

A loud topic is sent to at full speed, and messages without room are dropped; a quiet one (the document's
audit data) gets a message every 10 ms. A broker with a latency of 20 ms is the slower one. Memory is counted
in this process, without brokers. It belongs to document 004, which describes both choices.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections import Counter
from contextlib import closing
from itertools import product
from typing import Any, Final, Literal

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import (
    Outcome,
    PipelinedProducer,
    QueueFull,
    Settings,
)
from barnabas.designs.pipelined_producer.peers.event import Event
from barnabas.designs.pipelined_producer.peers.queues import OneQueue, PartitionQueues, Queues
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column, table_of, total
from barnabas.designs.results.markdown import paragraphs, table
from barnabas.designs.results.runs import Run, select
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.peers.apache import ApacheCluster

QUESTION: Final = (
    "Which of the two queue designs protects a quiet topic from a loud one, and what does it cost?"
)
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

Choice = Literal["partition", "one"]
ARMS: Final[tuple[tuple[str, Choice], ...]] = (
    ("a queue per partition", "partition"),
    ("one queue for all", "one"),
)


def run(bench: Bench) -> Measured:
    """Run both arms in rounds, then count memory."""
    how = bench.settings(SHORT, quiet=QUIET, rounds=ROUNDS)
    step = bench.counter(len(ARMS) * how["rounds"])
    runs: list[Run] = []
    with ApacheCluster(VERSION) as cluster:
        for topic in ("loud", "quiet"):
            make_topic(cluster.brokers.values(), topic)
        with bench.between(cluster.bootstrap, producer_runs.late_answers(20), "slow") as proxy:
            for _, (arm, queueing) in product(range(how["rounds"]), ARMS):
                step(arm)
                runs.append({"arm": arm, **loud_and_quiet(address_of(proxy), queueing, how)})
    memory = [
        {"arm": arm, "partitions": spread, "bytes": memory_of(queueing, spread)}
        for spread, (arm, queueing) in product(SPREADS, ARMS)
    ]
    return {"how": how, "runs": runs, "memory": memory}


def loud_and_quiet(bootstrap: Address, queueing: Choice, how: dict[str, Any]) -> Run:
    """Measure one run: the messages dropped of each topic, and the times of the quiet one (ms)."""
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
        producer.flush(producer_runs.PATIENCE)
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
        unsent = producer.flush(producer_runs.PATIENCE)
    if unsent:
        raise TimeoutError(f"{queueing}: {unsent} messages are not reported")
    return {
        "quiet": sent["quiet"],
        "quiet_dropped": dropped["quiet"],
        "loud": sent["loud"],
        "loud_dropped": dropped["loud"],
        "quiet_ms": [round(milliseconds, 1) for milliseconds in sorted(waited)],
        "problems": dict(problems),
    }


def memory_of(queueing: Choice, partitions: int) -> int:
    """Return the bytes that queues take for EVENTS events, without the events."""
    events = [Event("t", None, None, 0.0, number % partitions) for number in range(EVENTS)]
    tracemalloc.start()
    try:
        queue_type = PartitionQueues if queueing == "partition" else OneQueue
        queues: Queues = queue_type(EVENTS, Settings().batch_bytes)
        before = tracemalloc.get_traced_memory()[0]
        for event in events:
            queues.put(event)
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    memory = {
        (measurement["partitions"], measurement["arm"]): measurement["bytes"] / 1024
        for measurement in measured["memory"]
    }
    return paragraphs(
        "## Isolation",
        f"Kafka {VERSION} behind 20 ms; a queue has room for {ROOM} messages; "
        f"{how['quiet']} messages of the quiet topic a run, one every {PACE * 1e3:.0f} ms, "
        f"{how['rounds']} rounds.",
        table_of(
            runs,
            {
                "arm": "arm",
                "quiet topic dropped": _dropped("quiet"),
                "loud topic dropped": _dropped("loud"),
                "quiet topic: median ms, 99% within": _waited,
            },
        ),
        "## Memory",
        f"What queues take for {EVENTS:,} events (CPython, the events themselves left out), spread "
        "over so many partitions:",
        table(
            " | ".join(["partitions", *(arm for arm, _ in ARMS)]),
            (
                (f"{spread:,}", *(f"{memory[spread, arm]:.0f} KiB" for arm, _ in ARMS))
                for spread in SPREADS
            ),
        ),
        "The document expects of one queue per partition more isolation (\"this will protect important "
        "low throughput topics like audit data\") and more memory \"especially for tools like "
        "MirrorMaker\", which have many partitions.",
    )  # fmt: skip


def _dropped(topic: str) -> Column:
    return lambda cell_runs: f"{total(f'{topic}_dropped')(cell_runs)} of {total(topic)(cell_runs)}"


def _waited(cell_runs: list[Run]) -> str:
    waited = sorted(ms for run in cell_runs for ms in run["quiet_ms"])
    if not waited:
        return "none got through"
    return f"{statistics.median(waited):.0f}, {waited[int(len(waited) * 0.99)]:.0f}"


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the dropped messages of the quiet topic, run by run."""
    lost = {
        arm: [
            100 * run["quiet_dropped"] / run["quiet"] for run in select(measured["runs"], arm=arm)
        ]
        for arm, _ in ARMS
    }
    return {"dropped": plots.dots("A quiet topic beside a loud one", "dropped (%)", lost)}


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write, drawn)
