"""A consumer with auto commit that is killed at different times after its last commit.

Records come at a fixed rate, each group reads them alone, and all groups of an arm are in one process. What
it was given is what its process wrote to a file as it happened: a killed one answers nothing. When it
committed is in the proxy's capture.
It asks brokers of 2017 and of today, and belongs to document 003: it tests what that says of auto commit,
with the brokers and the capture reader of its rebalances.
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
from barnabas.designs.rebalances import arms, passed
from barnabas.designs.rebalances.arms import CASES
from barnabas.designs.rebalances.counting import spread, spread_of, twice_plots
from barnabas.designs.rebalances.java.client import FollowingClient
from barnabas.designs.rebalances.passed import Passed
from barnabas.designs.rebalances.running import PATIENCE
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
"""Groups of each interval; they come one after the other, so that they commit at different times."""
APART: Final = 0.55
"""Seconds between two that come: in ten, no two have the same time since their commit."""
RATE: Final = 20
"""Records a second."""
READS: Final = 6.5
"""Seconds for which the last one that comes reads: the first commit is after 5 s."""
SESSION: Final = 6.0
"""Seconds."""
FOLLOWS: Final = SESSION + 3.0
"""Seconds for which the second process reads: it gets nothing before the session of a killed one is over."""


class Member(NamedTuple):
    """A consumer and its successor: what each saw, and their exchanges."""

    interval: int
    first: Sequence[Sequence[Any]]
    second: Sequence[Sequence[Any]]
    passed: Sequence[Passed]


def run(bench: Bench) -> Measured:
    """Kill one process and close the consumers of another, in each case."""
    cases, count = (CASES[:1], 2) if bench.short else (CASES, RUNS)
    found: list[Run] = []
    step = bench.counter(len(cases) * len(ENDS))
    settings = {**arms.BROKER, "group.consumer.session.timeout.ms": f"{SESSION * 1000:.0f}"}
    with suppress(KeyboardInterrupt):  # what was measured until then is the result
        for version, protocol in cases:
            with ApacheCluster(version, settings=settings, timeout=PATIENCE) as cluster:
                for end in ENDS:
                    step(f"{version} {protocol}, {end}")
                    about = {"version": version, "protocol": protocol, "end": end}
                    members = _members(bench, cluster, version, protocol, end, count)
                    found += [{**about, **figures(one)} for one in members]
    return {"how": {"rate": RATE, "session": SESSION}, "runs": found}


def _members(
    bench: Bench,
    cluster: ApacheCluster,
    version: str,
    protocol: arms.Protocol,
    end: End,
    count: int,
) -> list[Member]:
    """Run two processes, one after the other, of so many consumers with each interval."""
    intervals = {f"g{each:05d}-{number}": each for number in range(count) for each in INTERVALS}
    reads = READS + APART * count
    with ExitStack() as stack:
        name = f"{version}-{protocol}-{end}"
        between = stack.enter_context(bench.between(cluster.bootstrap, QUIET, name))
        first, second = (between.capture.with_name(each) for each in ("first", "second"))
        at = {"bootstrap.servers": between.bootstrap_server}
        one, other = (stack.enter_context(FollowingClient(version, at)) for _ in range(2))
        one.administer("create", topic=end, partitions=1)
        # the first calls of a process are made by one thread at a time, and a poll may wait for a session
        other.follow(end, 1, _groups({"warm": 1000}, protocol, [[("poll", 200)]]))
        stack.enter_context(_flowing(cluster, end))
        waits = [APART * (number // len(INTERVALS)) for number in range(len(intervals))]
        steps: list[list[arms.Step]] = [
            [("wait", wait), ("finish", PATIENCE if end == "killed" else reads - wait, "")]
            for wait in waits
        ]
        ended = _following(one, end, first, _groups(intervals, protocol, steps))
        if end == "killed":
            time.sleep(reads)
            if one.pid is not None:
                os.kill(one.pid, signal.SIGKILL)
        ended.join()
        steps = [[("finish", FOLLOWS, "")] for _ in intervals]
        _following(other, end, second, _groups(intervals, protocol, steps)).join()
    before, behind = (notes(path) for path in (first, second))
    exchanges = passed.read(between.capture)
    return [
        Member(
            interval,
            before.get(f"{name}.m", ()),
            behind.get(f"{name}.m", ()),
            [each for each in exchanges if each.group == name],
        )
        for name, interval in intervals.items()
    ]


@contextmanager
def _flowing(cluster: ApacheCluster, topic: str) -> Iterator[None]:
    """Send RATE numbered records a second, until its end."""
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
    """Return groups of one member each, as `FollowingClient.follow` has them."""
    classic = {
        "session.timeout.ms": f"{SESSION * 1000:.0f}",
        "heartbeat.interval.ms": f"{arms.HEARTBEAT * 1000:.0f}",
    }
    own = classic if protocol == "classic" else {"group.protocol": "consumer"}
    own |= {"enable.auto.commit": "true"}
    groups = []
    for (name, interval), script in zip(intervals.items(), steps, strict=True):
        about = {
            "auto.commit.interval.ms": str(interval),
            "group.id": name,
            "client.id": f"{name}.m",
        }
        groups.append([{"settings": own | about, "steps": script}])
    return groups


def _following(
    java: FollowingClient, topic: str, told: Path, groups: list[list[dict[str, Any]]]
) -> threading.Thread:
    """Start a thread in which a process follows the script; the process may be killed."""

    def follow() -> None:
        with suppress(JavaError):
            java.follow(topic, 1 << 30, groups, notes=told)

    thread = threading.Thread(target=follow)
    thread.start()
    return thread


def notes(path: Path) -> dict[str, list[list[Any]]]:
    """Return what each client saw; the last line may be cut off."""
    found: dict[str, list[list[Any]]] = {}
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            client_id, *seen = json.loads(line)
            found.setdefault(client_id, []).append(seen)
    return found


def figures(member: Member) -> dict[str, Any]:
    """Return the figures of a run.

    since_ms: from the last commit before the second process to the last record that the first one was given;
    with a close the commit is the later one.
    """
    given = [(seen[0], each) for seen in member.first if seen[1] == "reads" for each in seen[2:]]
    later = [(seen[0], each) for seen in member.second if seen[1] == "reads" for each in seen[2:]]
    begun = next((seen[0] for seen in member.second if seen[1] == "subscribes"), None)
    before, behind = ({int(each) for _, each in ids} for ids in (given, later))
    commits = [
        one.came
        for one in member.passed
        if one.api == "OffsetCommit" and begun is not None and one.came < begun
    ]
    last = max((at for at, _ in given), default=0.0)
    since = round((last - commits[-1]) * 1000) if commits else None
    return {
        "interval": member.interval,
        "since_ms": since,
        "given": len(given),
        "twice": len(before & behind),
        "never": max(behind, default=0) + 1 - len(before | behind) - min(before, default=0),
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
    for (version, protocol), own in group(_complete(runs), "version", "protocol").items():
        parts += [f"## Kafka {version}, {protocol} protocol", table_of(own, COLUMNS), _follows(own)]
    if left := len(runs) - len(_complete(runs)):
        parts.append(
            f"Left out: {left} runs without a commit, or in which the second process got nothing."
        )
    return paragraphs(*parts)


def _since(own: list[Run]) -> str:
    return spread(known(own, "since_ms")) if own[0]["end"] == "killed" else "by the close"


def _rate(own: list[Run]) -> str:
    rates = [round(o["twice"] * 1000 / o["since_ms"], 1) for o in own if o["since_ms"] > 0]
    return spread(rates) if own[0]["end"] == "killed" and rates else ""


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
        f"After {words}, records were delivered twice in {share_of(lambda one: one['twice'])(own)} runs, "
        f"{max(known(own, 'twice'))} of them at most, and the next one came after "
        f"{spread(known(own, 'waited_ms'))} ms."
        for end, words in zip(ENDS, ("a kill", "a close"), strict=True)
        if (own := select(runs, end=end))
    )


def _complete(runs: list[Run]) -> list[Run]:
    """Return the runs in which the first process committed and the second one got something, by interval."""
    own = [one for one in runs if None not in (one["since_ms"], one["waited_ms"])]
    return sorted(own, key=lambda one: INTERVALS.index(one["interval"]))


def plots(measured: Measured) -> dict[str, str]:
    """Plot what was delivered twice, by interval and end."""
    runs = [{**one, "of": f"{one['interval']} ms"} for one in _complete(measured["runs"])]
    return twice_plots(runs, "Records delivered twice", "of", "end")


VERSIONS: Final = tuple(dict.fromkeys(version for version, _ in CASES))
EXPERIMENT: Final = Experiment(QUESTION, VERSIONS, run, write, plots)
