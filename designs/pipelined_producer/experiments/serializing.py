"""The two choices of serialising: the cost of send() for its caller, and the throughput.

The document fears "slowing down the client thread if compression or serialization takes long", so there are
three serialisers: none, one that holds Python's lock while it works (json), and one that works without the
lock (zlib). The cost of send() is measured at a steady pace, so that no message waits for room. It belongs to
document 004, which describes both choices.
"""

from __future__ import annotations

import json
import statistics
import time
import zlib
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from itertools import product
from typing import Any, Final, Literal

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import Outcome, PipelinedProducer, Settings
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializer
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results import plots
from barnabas.designs.results.columns import middle_of, table_of
from barnabas.designs.results.intervals import middle
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster

QUESTION: Final = (
    "What does it cost to serialise in the client's thread, and what in the send thread?"
)
VERSION: Final = "4.3.1"
TOPIC, PARTITIONS = "serialising", 4
PACED, BURST, ROUNDS = 300, 2000, 6
"""Messages at a pace, messages as fast as they are taken, and runs of each arm."""
SHORT: Final = {"paced": 50, "burst": 100, "rounds": 1}
PACE: Final = 0.002
"""Seconds between two messages; the slowest serialiser takes less."""

SerializingThread = Literal["client thread", "send thread"]
ARMS: Final[tuple[SerializingThread, ...]] = ("client thread", "send thread")
SETTINGS: Final = Settings(batch_messages=50)

_DOCUMENT: Final = {
    "id": 12345,
    "items": [{"name": f"item {number}", "price": number / 7} for number in range(20)],
}
_LONG: Final = "".join(str(number * number) for number in range(2000)).encode()


def _to_json(value: Any) -> bytes:
    return json.dumps(value).encode()


CASES: Final[tuple[tuple[str, Any, Serializer], ...]] = (
    ("bytes as they are", bytes(100), PLAIN.value),
    ("json of 21 objects", _DOCUMENT, _to_json),
    ("zlib of 13 KB", _LONG, zlib.compress),
)


def run(bench: Bench) -> Measured:
    """Run both arms with each serialiser, in rounds."""
    how = bench.settings(SHORT, paced=PACED, burst=BURST, rounds=ROUNDS)
    step = bench.counter(how["rounds"] * len(CASES) * len(ARMS))
    runs: list[Run] = []
    with ApacheCluster(VERSION, settings={"num.partitions": str(PARTITIONS)}) as cluster:
        make_topic(cluster.brokers.values(), TOPIC)
        (address,) = cluster.brokers.values()
        for _, (case, value, serializer), arm in product(range(how["rounds"]), CASES, ARMS):
            step(f"{case}, {arm}")
            runs.append({"case": case, "arm": arm, **send(address, arm, value, serializer, how)})
    alone = [
        {"case": case, "us": round(cost(value, serializer), 1)} for case, value, serializer in CASES
    ]
    return {"how": {**how, "partitions": PARTITIONS}, "runs": runs, "alone": alone}


def send(
    bootstrap: Address,
    arm: SerializingThread,
    value: Any,
    serializer: Serializer,
    how: dict[str, Any],
) -> Run:
    """Measure the microseconds of each send at a pace (median, 99 %), then the seconds of a burst."""
    problems: Counter[str] = Counter()

    def told(outcome: Outcome) -> None:
        if outcome.problem is not None:
            problems[outcome.problem] += 1

    settings, serializers = replace(SETTINGS, serializing=arm), PLAIN._replace(value=serializer)
    with closing(PipelinedProducer([bootstrap], settings, serializers=serializers)) as producer:
        for partition in range(PARTITIONS):
            producer.send(TOPIC, value, partition=partition, told=told)
        producer.flush(producer_runs.PATIENCE)
        took = []
        due = time.perf_counter()
        for number in range(how["paced"]):
            due += PACE
            time.sleep(max(0.0, due - time.perf_counter()))
            begun = time.perf_counter_ns()
            producer.send(TOPIC, value, partition=number % PARTITIONS, told=told)
            took.append((time.perf_counter_ns() - begun) / 1e3)
        producer.flush(producer_runs.PATIENCE)
        start = time.perf_counter()
        for number in range(how["burst"]):
            partition = number % PARTITIONS
            producer.send(TOPIC, value, partition=partition, told=told, wait=producer_runs.PATIENCE)
        sent = time.perf_counter() - start
        unsent = producer.flush(producer_runs.PATIENCE)
        seconds = time.perf_counter() - start
    if unsent:
        raise TimeoutError(f"{arm}: {unsent} messages are not reported")
    took.sort()
    return {
        "send_us": round(statistics.median(took), 1),
        "send_99_us": round(took[int(len(took) * 0.99)], 1),
        "messages": how["burst"],
        "seconds": round(seconds, 4),
        "sent": round(sent, 4),
        "problems": dict(problems),
    }


def cost(value: Any, serializer: Serializer) -> float:
    """Return the microseconds that a serialiser takes alone: the median of many calls."""
    took = []
    for _ in range(500):
        begun = time.perf_counter_ns()
        serializer(value)
        took.append((time.perf_counter_ns() - begun) / 1e3)
    return statistics.median(took)


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    alone = {measurement["case"]: measurement["us"] for measurement in measured["alone"]}
    sentences = []
    for case in alone:
        client, sender = (select(runs, case=case, arm=arm) for arm in ARMS)
        costs, rates = (
            [statistics.median(of(cell_runs)) for cell_runs in (client, sender)]
            for of in (_costs, producer_runs.rates)
        )
        sentences.append(
            f"{case}: in the client's thread send() takes {costs[0] - costs[1]:+.0f} µs, and a burst moves "
            f"{rates[0] / rates[1]:.2f} times the messages."
        )
    return paragraphs(
        f"Kafka {VERSION}, one broker, no proxy between; {how['partitions']} partitions, batches "
        f"of {SETTINGS.batch_messages}, {SETTINGS.in_flight} in flight, acks=1. A run sends "
        f"{how['paced']} messages, one every {PACE * 1e3:.0f} ms, then {how['burst']} as fast as "
        f"they are taken; {how['rounds']} rounds. Medians, in brackets the values between which "
        "they lie (95 % from six rounds on).",
        table_of(
            runs,
            {
                "serialiser": "case",
                "alone, µs": lambda cell_runs: f"{alone[cell_runs[0]['case']]:.0f}",
                "who serialises": "arm",
                "send() at a pace: median µs": middle_of("send_us"),
                "99% within, µs": middle_of("send_99_us"),
                "burst: messages a second": producer_runs.rate_of(),
                "burst: the caller is done after, ms": lambda cell_runs: middle(
                    1e3 * each for each in figures(cell_runs, "sent")
                ),
            },
        ),
        "## What follows",
        "Held against serialising in the send thread:",
        bullets(sentences),
        'The document prefers the send thread, for fear of "slowing down the client '
        'thread if compression or serialization takes long". Its producer runs on '
        "the JVM, whose threads run in parallel; Python's do so only while a serialiser releases "
        "the interpreter's lock, as zlib does and json does not.",
    )


def _costs(runs: Iterable[Run]) -> list[float]:
    return figures(runs, "send_us")


def drawn(measured: Measured) -> dict[str, str]:
    """Plot what send() costs, run by run."""
    costs = {
        f"{case}, {arm}": _costs(select(measured["runs"], case=case, arm=arm))
        for case, *_ in CASES
        for arm in ARMS
    }
    return {"send": plots.dots("What send() costs at a steady pace", "median (µs)", costs)}


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write, drawn)
