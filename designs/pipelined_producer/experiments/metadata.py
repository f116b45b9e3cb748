"""The two choices of metadata: the wait for a new topic, and its effect on all other topics.

Messages go to known topics at a steady pace; then comes one whose leader the producer does not know. The
proxy delays Metadata responses. In the last case it also removes the leader of one partition of each topic
from the metadata, permanently. It belongs to document 004, which leaves the choice open: its producer makes
both, on a broker of the document's time.
"""

from __future__ import annotations

import json
import statistics
import time
from collections import Counter
from itertools import pairwise, product
from typing import Final, Literal, NamedTuple

from barnabas.designs.leaders import Address, TopicPartition
from barnabas.designs.pipelined_producer.experiments import producer_runs
from barnabas.designs.pipelined_producer.peers import Outcome, PipelinedProducer, Settings
from barnabas.designs.protocol_guide.client_0_8.topics import make_topic
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column, middle_of, table_of
from barnabas.designs.results.markdown import bullets, capitalized, paragraphs
from barnabas.designs.results.runs import Run, figures, group, select
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured, address_of
from barnabas.peers.apache import ApacheCluster

QUESTION: Final = (
    "What do synchronous and non-blocking metadata cost a new topic, and all others beside it?"
)
VERSION: Final = "0.8.2.2"
LATENCIES: Final = (0, 20, 100)
"""Milliseconds of a metadata response."""
KNOWN: Final = tuple(f"known-{number}" for number in range(10))
PACE: Final = 0.002
"""Seconds between two messages to the known topics, which alternate."""
REST, BEFORE, AFTER, ROUNDS = 0.3, 0.3, 0.8, 6
"""Seconds of a run: without messages, for initial metadata requests; before and after the message with the
unknown leader. Then the runs of each arm."""
SHORT: Final = {"latencies": (0, 100), "rounds": 1}

Choice = Literal["blocking", "non-blocking"]
ARMS: Final[tuple[tuple[str, Choice], ...]] = (
    ("synchronous", "blocking"),
    ("non-blocking", "non-blocking"),
)
NEW: Final = "a topic new to the producer"
MADE: Final = "a topic that the broker makes then"
LEADERLESS: Final = "a partition without a leader"
CASES: Final = {NEW: "new topic", MADE: "made then", LEADERLESS: "no leader"}
"""The reason for a message's wait, and a short name."""


class Ack(NamedTuple):
    """A message of a known topic: the times of its sending and its acknowledgement, in seconds."""

    sent: float
    reported: float


def scenario(case: str, latency: int) -> str:
    """Return the proxy's scenario for a case and a latency in ms."""
    do = []
    if case == LEADERLESS:
        # 0.8 lists partitions in any order; both have the same leader
        first, last = "topics[*].partitions[0]", "topics[*].partitions[1]"
        fields = {
            f"{first}.partition_index": 0,
            f"{last}.partition_index": 1,
            f"{last}.leader_id": -1,
            f"{last}.error_code": 5,
        }
        do.append(f"{{edit: {{set: {json.dumps(fields)}}}}}")
    if latency:
        do.append(f"{{delay: {latency}ms}}")
    if not do:
        return QUIET
    match = "{api: Metadata, direction: response}"
    return f"version: 1\nrules: [{{name: metadata, match: {match}, do: [{', '.join(do)}]}}]\n"


def run(bench: Bench) -> Measured:
    """Run both arms in all cases at all latencies, in rounds."""
    how = bench.settings(SHORT, latencies=LATENCIES, rounds=ROUNDS)
    step = bench.counter(len(CASES) * len(how["latencies"]) * how["rounds"] * len(ARMS))
    runs: list[Run] = []
    with ApacheCluster(VERSION, settings={"num.partitions": "2"}) as cluster:
        for topic in (*KNOWN, "there"):
            make_topic(cluster.brokers.values(), topic)
        for case, latency in product(CASES, how["latencies"]):
            name = f"{CASES[case]}-{latency}"
            with bench.between(cluster.bootstrap, scenario(case, latency), name) as proxy:
                for _, (arm, choice) in product(range(how["rounds"]), ARMS):
                    step(f"{case}, {latency} ms, {arm}")
                    partition = _place(case, len(runs))
                    result = around(address_of(proxy), choice, partition, case != LEADERLESS)
                    runs.append({"case": case, "latency": latency, "arm": arm, **result})
    return {"how": how, "runs": runs}


def _place(case: str, number: int) -> TopicPartition:
    """Return the partition with the unknown leader; number: of the run."""
    if case == LEADERLESS:
        return KNOWN[0], 1
    return ("there" if case == NEW else f"made-{number}"), 0


def around(bootstrap: Address, choice: Choice, partition: TopicPartition, awaited: bool) -> Run:
    """Measure one run. awaited: whether the message to `partition` will be acknowledged."""
    acks: list[Ack] = []
    first: list[float] = []
    problems: Counter[str] = Counter()

    def told(outcome: Outcome) -> None:
        if outcome.problem is not None:
            problems[outcome.problem] += 1
        else:
            acks.append(Ack(outcome.event.enqueued, time.monotonic()))

    def came(outcome: Outcome) -> None:
        if outcome.problem is None:
            first.append((time.monotonic() - outcome.event.enqueued) * 1e3)
        elif awaited:
            problems[outcome.problem] += 1

    # a broker may refuse to lead a topic a moment after its creation
    settings = Settings(metadata=choice, retries=20)
    producer = PipelinedProducer([bootstrap], settings)
    try:
        for topic in KNOWN:
            producer.send(topic, b"first", partition=0)
        if producer.flush(producer_runs.PATIENCE):
            raise TimeoutError(f"{choice}: nothing gets through")
        time.sleep(REST)
        due = time.monotonic()
        at = due + BEFORE
        requested = False
        number = 0
        while (now := time.monotonic()) < at + AFTER:
            if now >= at and not requested:
                at, requested = now, True
                producer.send(partition[0], b"first", partition=partition[1], told=came)
            producer.send(KNOWN[number % len(KNOWN)], bytes(100), partition=0, told=told)
            number, due = number + 1, due + PACE
            time.sleep(max(0.0, due - time.monotonic()))
        if awaited and producer.flush(producer_runs.PATIENCE):
            raise TimeoutError(f"{choice}: no acknowledgement of {partition[0]}")
    finally:
        producer.close(1)
    return {
        "first_ms": round(first[0], 1) if first else None,
        **stalls(acks, at),
        "problems": dict(problems),
    }


def stalls(acks: list[Ack], at: float) -> dict[str, float]:
    """Return how long messages before and after a moment waited (ms), and the longest silence.

    >>> acks = [Ack(0.0, 0.25), Ack(1.0, 1.5), Ack(1.25, 3.5), Ack(3.25, 3.5)]
    >>> stalls(acks, 1.0)
    {'before_ms': 250.0, 'median_ms': 500.0, 'slowest_ms': 2250.0, 'silence_ms': 2000.0}
    """
    before = [ack.reported - ack.sent for ack in acks if ack.sent < at]
    after = [ack.reported - ack.sent for ack in acks if ack.sent >= at]
    times = [at, *sorted(ack.reported for ack in acks if ack.reported >= at)]
    figures = {
        "before_ms": max(before),
        "median_ms": statistics.median(after),
        "slowest_ms": max(after),
        "silence_ms": max(later - earlier for earlier, later in pairwise(times)),
    }
    return {name: round(value * 1e3, 1) for name, value in figures.items()}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [
        f"Kafka {VERSION}, one broker. A message of 100 bytes every {PACE * 1e3:.0f} ms to "
        f"{len(KNOWN)} known topics in turn, {BEFORE:g} s before and {AFTER:g} s after one whose "
        f"leader is not known; {how['rounds']} rounds. The proxy lets each Metadata response "
        "leave so much later; without a leader stays a partition until the end of a run, and is "
        "asked for again every 100 ms. Milliseconds: medians, in brackets the values between "
        "which they lie (95 % from six rounds on). Of the known topics: what half of their "
        "messages waited at most afterwards, the slowest one before and afterwards, and the "
        "longest time in which none was acknowledged."
    ]  # fmt: skip
    columns: dict[str, str | Column] = {
        "latency of metadata": "at",
        "metadata fetch": "arm",
        "first acknowledgement": middle_of("first_ms"),
        "known topics: median": middle_of("median_ms"),
        "slowest before": middle_of("before_ms"),
        "slowest after": middle_of("slowest_ms"),
        "longest silence": middle_of("silence_ms"),
    }
    for (case,), case_runs in group(runs, "case").items():
        sections = []
        for (latency,), each in group(case_runs, "latency").items():
            slowest = (
                statistics.median(figures(select(each, arm=arm), "slowest_ms")) for arm, _ in ARMS
            )
            sections.append(
                "At {} ms the slowest message of a known topic waits {:.0f} ms with the synchronous fetch, "
                "{:.0f} ms with the other.".format(latency, *slowest)
            )
        rows = [{**each_run, "at": f"{each_run['latency']} ms"} for each_run in case_runs]
        parts += [f"## {capitalized(case)}", table_of(rows, columns), bullets(sections)]
    return paragraphs(
        *parts,
        "The document expects of the synchronous fetch that it \"can potentially hurt the "
        "throughput for other topics/partitions\" if \"leaders only for a subset of partitions "
        "have changed\", and of the other \"more isolation, better overall throughput\".",
    )  # fmt: skip


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the longest silence of the known topics, by latency."""
    silence = {
        f"{short}, {arm}": [
            (each_run["latency"], each_run["silence_ms"])
            for each_run in select(measured["runs"], case=case, arm=arm)
        ]
        for case, short in CASES.items()
        for arm, _ in ARMS
    }
    title, x = "Known topics beside an unknown leader", "latency of metadata (ms)"
    return {"silence": plots.lines(title, x, "longest silence (ms)", silence)}


EXPERIMENT: Final = Experiment(QUESTION, (VERSION,), run, write, drawn)
