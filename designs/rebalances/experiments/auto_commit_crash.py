"""A consumer with auto commit that is killed at different times after its last commit.

Records are produced at a fixed rate, each group has one consumer, and all groups of an arm are in one
process. The process writes the received records to a file as they arrive, since a killed one can't respond.
The times of commits are in the proxy's capture. It uses brokers of 2017 and of today, and belongs to document
003: it tests its statement about auto commit, with the brokers and the capture reader of its rebalances.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from barnabas.designs.pipelined_producer.peers import PipelinedProducer
from barnabas.designs.rebalances import arms, timed_exchanges
from barnabas.designs.rebalances.arms import CASES
from barnabas.designs.rebalances.bed import PATIENCE
from barnabas.designs.rebalances.java.client import FollowingClient
from barnabas.designs.rebalances.timed_exchanges import TimedExchange
from barnabas.designs.rebalances.totals import spread, spread_of, twice_plots
from barnabas.designs.results.columns import Column, share_of, table_of
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run, group, select
from barnabas.designs.results.runs import figures as known
from barnabas.experiments.experiment import QUIET, Bench, Experiment, Measured
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaError

QUESTION: Final = (
    "With auto commit, what is delivered again when a consumer's process is killed, and when it is "
    "closed?"
)
End = Literal["killed", "closed"]
ENDS: Final[tuple[End, ...]] = ("killed", "closed")
INTERVALS: Final = (5000, 1000)
"""auto.commit.interval.ms: the default, and a shorter one."""
RUNS: Final = 10
"""Groups of each interval; they start one after the other, so that they commit at different times."""
APART: Final = 0.55
"""Seconds between two starts: of ten, no two have the same time since their commit."""
RATE: Final = 20
"""Records a second."""
READS: Final = 6.5
"""Seconds for which the last one reads: the first commit is after 5 s."""
SESSION: Final = 6.0
"""Seconds."""
FOLLOWS: Final = SESSION + 3.0
"""Seconds for which the second process reads: it gets nothing before the session of a killed one is over."""


class Member(NamedTuple):
    """A consumer and its successor: their events, and their exchanges."""

    interval: int
    first: Sequence[Sequence[Any]]
    second: Sequence[Sequence[Any]]
    passed: Sequence[TimedExchange]


def run(bench: Bench) -> Measured:
    """Kill one process and close the consumers of another, in each case."""
    cases, count = (CASES[:1], 2) if bench.short else (CASES, RUNS)
    runs: list[Run] = []
    step = bench.counter(len(cases) * len(ENDS))
    settings = {**arms.BROKER, "group.consumer.session.timeout.ms": f"{SESSION * 1000:.0f}"}
    with suppress(KeyboardInterrupt):  # the measurements until then are the result
        for version, protocol in cases:
            with ApacheCluster(version, settings=settings, timeout=PATIENCE) as cluster:
                for end in ENDS:
                    step(f"{version} {protocol}, {end}")
                    arm = {"version": version, "protocol": protocol, "end": end}
                    members = _members(bench, cluster, version, protocol, end, count)
                    runs += [{**arm, **figures(member)} for member in members]
    return {"how": {"rate": RATE, "session": SESSION}, "runs": runs}


def _members(
    bench: Bench,
    cluster: ApacheCluster,
    version: str,
    protocol: arms.Protocol,
    end: End,
    count: int,
) -> list[Member]:
    """Run two processes, one after the other, with a number of consumers for each interval."""
    intervals = {f"g{each:05d}-{number}": each for number in range(count) for each in INTERVALS}
    reads = READS + APART * count
    with ExitStack() as stack:
        name = f"{version}-{protocol}-{end}"
        between = stack.enter_context(bench.between(cluster.bootstrap, QUIET, name))
        first, second = (between.capture.with_name(each) for each in ("first", "second"))
        at = {"bootstrap.servers": between.bootstrap_server}
        doomed, survivor = (stack.enter_context(FollowingClient(version, at)) for _ in range(2))
        doomed.create_topic(end, 1)
        # one thread at a time makes the first calls of a process, and a poll may wait for a session
        survivor.follow(end, 1, _groups({"warm": 1000}, protocol, [[("poll", 200)]]))
        stack.enter_context(_flowing(cluster, end))
        waits = [APART * (number // len(INTERVALS)) for number in range(len(intervals))]
        steps: list[list[arms.Step]] = [
            [("wait", wait), ("finish", PATIENCE if end == "killed" else reads - wait, "")]
            for wait in waits
        ]
        ended = _following(doomed, end, first, _groups(intervals, protocol, steps))
        if end == "killed":
            time.sleep(reads)
            if doomed.pid is not None:
                os.kill(doomed.pid, signal.SIGKILL)
        ended.join()
        steps = [[("finish", FOLLOWS, "")] for _ in intervals]
        _following(survivor, end, second, _groups(intervals, protocol, steps)).join()
    before, after = (notes(path) for path in (first, second))
    exchanges = timed_exchanges.read(between.capture)
    return [
        Member(
            interval,
            before.get(f"{name}.m", ()),
            after.get(f"{name}.m", ()),
            [each for each in exchanges if each.group == name],
        )
        for name, interval in intervals.items()
    ]


@contextmanager
def _flowing(cluster: ApacheCluster, topic: str) -> Iterator[None]:
    """Send RATE numbered records a second, until the end of `with`."""
    over = threading.Event()

    def send() -> None:
        number, begun = 0, time.monotonic()
        while not over.wait(max(0.0, begun + number / RATE - time.monotonic())):
            producer.send(topic, b"%d" % number, partition=0)
            number += 1

    with PipelinedProducer(cluster.brokers.values()) as producer:
        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _groups(
    intervals: Mapping[str, int], protocol: arms.Protocol, steps: Sequence[Sequence[arms.Step]]
) -> list[list[dict[str, Any]]]:
    """Return groups of one member each, for `FollowingClient.follow`."""
    classic = {
        "session.timeout.ms": f"{SESSION * 1000:.0f}",
        "heartbeat.interval.ms": f"{arms.HEARTBEAT * 1000:.0f}",
    }
    protocol_settings = classic if protocol == "classic" else {"group.protocol": "consumer"}
    protocol_settings |= {"enable.auto.commit": "true"}
    groups = []
    for (name, interval), script in zip(intervals.items(), steps, strict=True):
        common = {
            "auto.commit.interval.ms": str(interval),
            "group.id": name,
            "client.id": f"{name}.m",
        }
        groups.append([{"settings": protocol_settings | common, "steps": script}])
    return groups


def _following(
    java: FollowingClient, topic: str, notes_path: Path, groups: list[list[dict[str, Any]]]
) -> threading.Thread:
    """Start a thread in which a process follows the script; the process may be killed."""

    def follow() -> None:
        with suppress(JavaError):
            java.follow(topic, 1 << 30, groups, notes=notes_path)

    thread = threading.Thread(target=follow)
    thread.start()
    return thread


def notes(path: Path) -> dict[str, list[list[Any]]]:
    """Return the events of each client; an incomplete last line is ignored."""
    events_by_client: dict[str, list[list[Any]]] = {}
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            client_id, *event = json.loads(line)
            events_by_client.setdefault(client_id, []).append(event)
    return events_by_client


def figures(member: Member) -> dict[str, Any]:
    """Return the figures of a run.

    since_ms: from the last commit before the second process to the last record of the first one; with a close
    the commit is the later one.
    """
    received = [
        (event[0], each) for event in member.first if event[1] == "reads" for each in event[2:]
    ]
    later = [
        (event[0], each) for event in member.second if event[1] == "reads" for each in event[2:]
    ]
    begun = next((event[0] for event in member.second if event[1] == "subscribes"), None)
    before, after = ({int(each) for _, each in ids} for ids in (received, later))
    commits = [
        exchange.came
        for exchange in member.passed
        if exchange.api == "OffsetCommit" and begun is not None and exchange.came < begun
    ]
    last = max((at for at, _ in received), default=0.0)
    since = round((last - commits[-1]) * 1000) if commits else None
    return {
        "interval": member.interval,
        "since_ms": since,
        "given": len(received),
        "twice": len(before & after),
        "never": max(after, default=0) + 1 - len(before | after) - min(before, default=0),
        "waited_ms": round((later[0][0] - begun) * 1000) if later and begun is not None else None,
    }


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    parts = [
        f"A consumer with enable.auto.commit reads a topic to which {how['rate']} records a second are "
        "written. Its process is killed (SIGKILL), or it is closed; then a second process joins the group. "
        "What the first one had been given is what it wrote to a file as poll returned it. `Since the "
        "commit`: from its last OffsetCommit, as the proxy's capture has it, to the last record that it was "
        "given. `Waited`: from when the second process's consumer is made to its first record. Figures are "
        "medians, with the least and the most in brackets. A session is "
        f"{how['session']:g} s. All groups of an end are in one process, and come one after the other, so "
        "that the kill meets them at different times."
    ]
    for (version, protocol), group_runs in group(_complete(runs), "version", "protocol").items():
        parts += [
            f"## Kafka {version}, {protocol} protocol",
            table_of(group_runs, COLUMNS),
            _follows(group_runs),
        ]
    if incomplete := len(runs) - len(_complete(runs)):
        parts.append(
            f"Left out: {incomplete} runs without a commit, or in which the second process got nothing."
        )
    return paragraphs(*parts)


def _since(cell_runs: list[Run]) -> str:
    return (
        spread(known(cell_runs, "since_ms")) if cell_runs[0]["end"] == "killed" else "by the close"
    )


def _rate(cell_runs: list[Run]) -> str:
    rates = [round(o["twice"] * 1000 / o["since_ms"], 1) for o in cell_runs if o["since_ms"] > 0]
    return spread(rates) if cell_runs[0]["end"] == "killed" and rates else ""


COLUMNS: Final[dict[str, str | Column]] = {
    "auto.commit.interval.ms": "interval",
    "end": "end",
    "runs": len,
    "since the commit, ms": _since,
    "delivered twice": spread_of("twice"),
    "a second since the commit": _rate,
    "never delivered": spread_of("never"),
    "waited, ms": spread_of("waited_ms"),
}


def _follows(runs: list[Run]) -> str:
    return bullets(
        f"After {words}, records were delivered twice in {share_of(lambda run: run['twice'])(ended)} runs, "
        f"{max(known(ended, 'twice'))} of them at most, and the next one came after "
        f"{spread(known(ended, 'waited_ms'))} ms."
        for end, words in zip(ENDS, ("a kill", "a close"), strict=True)
        if (ended := select(runs, end=end))
    )


def _complete(runs: list[Run]) -> list[Run]:
    """Return the runs with a commit of the first process and records of the second one, by interval."""
    complete_runs = [run for run in runs if None not in (run["since_ms"], run["waited_ms"])]
    return sorted(complete_runs, key=lambda run: INTERVALS.index(run["interval"]))


def plots(measured: Measured) -> dict[str, str]:
    """Plot what was delivered twice, by interval and end."""
    runs = [{**run, "of": f"{run['interval']} ms"} for run in _complete(measured["runs"])]
    return twice_plots(runs, "Records delivered twice", "of", "end")


VERSIONS: Final = tuple(dict.fromkeys(version for version, _ in CASES))
EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, plots)
