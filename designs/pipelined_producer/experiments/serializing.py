"""The two choices of serialising: what send() costs its caller, and what it does to throughput.

The document fears "slowing down the client thread if compression or serialization takes long", so there are
three serialisers: none, one that holds Python's lock while it works (json), and one that takes long and does
not (zlib). The cost of send() is that of messages at a steady pace, so that nobody waits for room.
"""

from __future__ import annotations

import json
import statistics
import time
import zlib
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any, Final, Literal

from barnabas.designs.leaders import Address
from barnabas.designs.pipelined_producer.experiments import producing
from barnabas.designs.pipelined_producer.peers import Outcome, PipelinedProducer, Settings
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN, Serializer
from barnabas.experiments import plots
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.intervals import middle
from barnabas.peers.apache import ApacheCluster

VERSION: Final = "4.3.1"
TOPIC: Final = "serialising"
PARTITIONS: Final = 4
PACED, BURST, ROUNDS = 300, 2000, 6
"""Messages at a pace, messages as fast as they are taken, and runs of each arm."""
SHORT: Final = {"paced": 50, "burst": 100, "rounds": 1}
PACE: Final = 0.002
"""Seconds between two messages; the slowest serialiser takes less."""

Where = Literal["client thread", "send thread"]
ARMS: Final[tuple[Where, ...]] = ("client thread", "send thread")
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
    """Both arms with each serialiser, in rounds."""
    how: dict[str, Any] = {"paced": PACED, "burst": BURST, "rounds": ROUNDS}
    how |= SHORT if bench.short else {}
    runs: list[producing.Run] = []
    total = how["rounds"] * len(CASES) * len(ARMS)
    with ApacheCluster(VERSION, settings={"num.partitions": str(PARTITIONS)}) as cluster:
        producing.make_topic(cluster.brokers.values(), TOPIC)
        (address,) = cluster.brokers.values()
        for _ in range(how["rounds"]):
            for case, value, serializer in CASES:
                for arm in ARMS:
                    bench.step(len(runs), total, f"{case}, {arm}")
                    found = send(address, arm, value, serializer, how)
                    runs.append({"case": case, "arm": arm, **found})
    alone = [
        {"case": case, "us": round(cost(value, serializer), 1)} for case, value, serializer in CASES
    ]
    return {"how": {**how, "partitions": PARTITIONS}, "runs": runs, "alone": alone}


def send(
    bootstrap: Address, arm: Where, value: Any, serializer: Serializer, how: dict[str, Any]
) -> producing.Run:
    """One run: microseconds of each send() at a pace (median, 99 %), then the seconds of a burst."""
    problems: Counter[str] = Counter()

    def told(outcome: Outcome) -> None:
        if outcome.problem is not None:
            problems[outcome.problem] += 1

    producer = PipelinedProducer(
        [bootstrap],
        replace(SETTINGS, serializing=arm),
        serializers=PLAIN._replace(value=serializer),
    )
    with closing(producer):
        for partition in range(PARTITIONS):
            producer.send(TOPIC, value, partition=partition, told=told)
        producer.flush(producing.PATIENCE)
        took = []
        due = time.perf_counter()
        for number in range(how["paced"]):
            due += PACE
            time.sleep(max(0.0, due - time.perf_counter()))
            begun = time.perf_counter_ns()
            producer.send(TOPIC, value, partition=number % PARTITIONS, told=told)
            took.append((time.perf_counter_ns() - begun) / 1e3)
        producer.flush(producing.PATIENCE)
        start = time.perf_counter()
        for number in range(how["burst"]):
            producer.send(
                TOPIC,
                value,
                partition=number % PARTITIONS,
                told=told,
                wait=producing.PATIENCE,
            )
        sent = time.perf_counter() - start
        left = producer.flush(producing.PATIENCE)
        seconds = time.perf_counter() - start
    if left:
        raise TimeoutError(f"{arm}: {left} messages are not reported")
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
    """Microseconds that a serialiser takes with nobody else about: the median of many."""
    took = []
    for _ in range(500):
        begun = time.perf_counter_ns()
        serializer(value)
        took.append((time.perf_counter_ns() - begun) / 1e3)
    return statistics.median(took)


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| serialiser | alone, µs | who serialises | send() at a pace: median µs | 99% within, µs "
        "| burst: messages a second | burst: the caller is done after, ms |",
        "|---|---|---|---|---|---|---|",
    ]
    said = []
    for one in measured["alone"]:
        case = one["case"]
        for arm in ARMS:
            own = producing.of(runs, case=case, arm=arm)
            lines.append(
                f"| {case} | {one['us']:.0f} | {arm} | {middle(each['send_us'] for each in own)} "
                f"| {middle(each['send_99_us'] for each in own)} | {middle(producing.rates(own))} "
                f"| {middle(1e3 * each['sent'] for each in own)} |"
            )
        client, sender = (producing.of(runs, case=case, arm=arm) for arm in ARMS)
        more = _median(client, "send_us") - _median(sender, "send_us")
        ratio = statistics.median(producing.rates(client)) / statistics.median(
            producing.rates(sender)
        )
        said.append(
            f"- {case}: in the client's thread send() takes {more:+.0f} µs, and a burst moves "
            f"{ratio:.2f} times the messages."
        )
    return (
        f"Kafka {VERSION}, one broker, no proxy between; {how['partitions']} partitions, batches "
        f"of {SETTINGS.batch_messages}, {SETTINGS.in_flight} in flight, acks=1. A run sends "
        f"{how['paced']} messages, one every {PACE * 1e3:.0f} ms, then {how['burst']} as fast as "
        f"they are taken; {how['rounds']} rounds. Medians, in brackets the values between which "
        "they lie (95 % from six rounds on).\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\nHeld against serialising in the send thread:\n\n"
        + "\n".join(said)
        + "\n\nThe document prefers the send thread, for fear of \"slowing down the client "
        "thread if compression or serialization takes long\". Its producer runs on "
        "the JVM, whose threads run in parallel; Python's do so only while a serialiser releases "
        "the interpreter's lock, as zlib does and json does not.\n"
    )  # fmt: skip


def _median(runs: list[producing.Run], name: str) -> float:
    return float(statistics.median(one[name] for one in runs))


def drawn(measured: Measured) -> dict[str, str]:
    """What send() costs, run by run."""
    costs = {
        f"{case}, {arm}": [
            one["send_us"] for one in producing.of(measured["runs"], case=case, arm=arm)
        ]
        for case, *_ in CASES
        for arm in ARMS
    }
    return {"send": plots.dots("What send() costs at a steady pace", "median (µs)", costs)}


EXPERIMENT: Final = Experiment(
    "What does it cost to serialise in the client's thread, and what in the send thread?",
    (VERSION,),
    run,
    write,
    drawn,
)
