"""A consumer with auto commit is killed, at different times after its last commit: what comes again?

Records come at a fixed rate, each group reads them alone, and all groups of an arm are in one process. What
it was given is what its process wrote to a file as it happened: a killed one answers nothing. When it
committed is in the proxy's capture.
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
from barnabas.designs.rebalances.counting import spread
from barnabas.designs.rebalances.passed import Passed
from barnabas.designs.rebalances.running import PATIENCE
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.experiments.intervals import share
from barnabas.experiments.plots import dots
from barnabas.peers.apache import ApacheCluster
from barnabas.peers.apache.client import JavaClient, JavaError

End = Literal["killed", "closed"]

CASES: Final[tuple[tuple[str, arms.Protocol], ...]] = (
    ("0.11.0.1", "classic"),
    ("4.3.1", "classic"),
    ("4.3.1", "consumer"),
)
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
QUIET: Final = "version: 1\nrules: []\n"


class Member(NamedTuple):
    """What is known of a consumer and the one that takes its place: what each saw, and what passed."""

    interval: int
    first: Sequence[Sequence[Any]]
    second: Sequence[Sequence[Any]]
    passed: Sequence[Passed]


def run(bench: Bench) -> Measured:
    """In each case one process that is killed, and one whose consumers are closed."""
    cases, count = (CASES[:1], 2) if bench.short else (CASES, RUNS)
    found: list[dict[str, Any]] = []
    settings = {
        **arms.BROKER,
        "group.consumer.session.timeout.ms": f"{SESSION * 1000:.0f}",
    }
    ends: tuple[End, ...] = ("killed", "closed")
    with suppress(KeyboardInterrupt):  # what was measured until then is the result
        for version, protocol in cases:
            with ApacheCluster(version, settings=settings, timeout=PATIENCE) as cluster:
                for end in ends:
                    total = len(cases) * len(ends) * len(INTERVALS) * count
                    bench.step(len(found), total, f"{version} {protocol}, {end}")
                    folder = bench.folder / f"{version}-{protocol}-{end}"
                    folder.mkdir()
                    about = {"version": version, "protocol": protocol, "end": end}
                    members = _members(bench, folder, cluster, version, protocol, end, count)
                    found += [{**about, **figures(one)} for one in members]
    return {"how": {"rate": RATE, "session": SESSION}, "runs": found}


def _members(
    bench: Bench,
    folder: Path,
    cluster: ApacheCluster,
    version: str,
    protocol: arms.Protocol,
    end: End,
    count: int,
) -> list[Member]:
    """Two processes, one behind the other, of so many consumers with each interval."""
    intervals = {f"g{each:05d}-{number}": each for number in range(count) for each in INTERVALS}
    first, second = folder / "first", folder / "second"
    reads = READS + APART * count
    with ExitStack() as stack:
        between = stack.enter_context(bench.proxy(cluster.bootstrap, QUIET, folder))
        at = {"bootstrap.servers": between.bootstrap_server}
        one, other = (stack.enter_context(JavaClient(version, at)) for _ in range(2))
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
    """RATE numbered records a second, until its end."""
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
    """Groups of one member each, as `JavaClient.follow` has them."""
    classic = {
        "session.timeout.ms": f"{SESSION * 1000:.0f}",
        "heartbeat.interval.ms": f"{arms.HEARTBEAT * 1000:.0f}",
    }
    own = classic if protocol == "classic" else {"group.protocol": "consumer"}
    return [
        [
            {
                "settings": {
                    **own,
                    "enable.auto.commit": "true",
                    "auto.commit.interval.ms": str(interval),
                    "group.id": name,
                    "client.id": f"{name}.m",
                },
                "steps": own_steps,
            }
        ]
        for (name, interval), own_steps in zip(intervals.items(), steps, strict=True)
    ]


def _following(
    java: JavaClient, topic: str, told: Path, groups: list[list[dict[str, Any]]]
) -> threading.Thread:
    """A thread in which a process follows the script; it may be killed."""

    def follow() -> None:
        with suppress(JavaError):
            java.follow(topic, 1 << 30, groups, notes=told)

    thread = threading.Thread(target=follow)
    thread.start()
    return thread


def notes(path: Path) -> dict[str, list[list[Any]]]:
    """What each client saw; the last line may be cut off."""
    found: dict[str, list[list[Any]]] = {}
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            client_id, *seen = json.loads(line)
            found.setdefault(client_id, []).append(seen)
    return found


def figures(member: Member) -> dict[str, Any]:
    """What a run came to.

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
    """The result as Markdown."""
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
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        rows = [
            f"## Kafka {version}, {protocol} protocol\n",
            "| auto.commit.interval.ms | end | runs | since the commit, ms | delivered twice | a second "
            "since the commit | never delivered | waited, ms |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for interval, end, own in _arms(runs, version, protocol):
            killed = end == "killed"
            rate = [one["twice"] * 1000 / one["since_ms"] for one in own if one["since_ms"] > 0]
            rows.append(
                f"| {interval} | {end} | {len(own)} | "
                f"{spread(one['since_ms'] for one in own) if killed else 'by the close'} | "
                f"{spread(one['twice'] for one in own)} | "
                f"{spread(round(each, 1) for each in rate) if killed and rate else ''} | "
                f"{spread(one['never'] for one in own)} | {spread(one['waited_ms'] for one in own)} |"
            )
        parts += ["\n".join(rows), _follows(runs, version, protocol)]
    if left := sum(not complete(one) for one in runs):
        parts.append(
            f"Left out: {left} runs without a commit, or in which the second process got nothing."
        )
    return "\n\n".join(filter(None, parts)) + "\n"


def _arms(
    runs: Sequence[dict[str, Any]], version: str, protocol: str
) -> Iterator[tuple[int, str, list[dict[str, Any]]]]:
    """Interval and end, with the runs that are complete."""
    for interval in INTERVALS:
        for end in ("killed", "closed"):
            wanted = (version, protocol, interval, end)
            names = ("version", "protocol", "interval", "end")
            own = [o for o in runs if tuple(o[n] for n in names) == wanted and complete(o)]
            if own:
                yield interval, end, own


def _follows(runs: Sequence[dict[str, Any]], version: str, protocol: str) -> str:
    said = []
    for end, words in (("killed", "a kill"), ("closed", "a close")):
        own = [one for _, of, found in _arms(runs, version, protocol) if of == end for one in found]
        if own:
            hits = share(sum(one["twice"] > 0 for one in own), len(own))
            most = max(one["twice"] for one in own)
            said.append(
                f"- After {words}, records were delivered twice in {hits} runs, {most} of them at most, and "
                f"the next one came after {spread(one['waited_ms'] for one in own)} ms."
            )
    return "\n".join(said)


def complete(one: Mapping[str, Any]) -> bool:
    """Whether the first process committed, and the second one got something."""
    return one["since_ms"] is not None and one["waited_ms"] is not None


def plots(measured: Measured) -> dict[str, str]:
    """What was delivered twice, by interval and end."""
    runs, found = measured["runs"], {}
    for version, protocol in dict.fromkeys((one["version"], one["protocol"]) for one in runs):
        groups = {
            f"{interval} ms, {end}": [one["twice"] for one in own]
            for interval, end, own in _arms(runs, version, protocol)
        }
        if groups:
            title = f"Records delivered twice: Kafka {version}, {protocol}"
            found[f"twice-{version}-{protocol}"] = dots(title, "records", groups)
    return found


EXPERIMENT: Final = Experiment(
    "With auto commit, what is delivered again when a consumer's process is killed, and when it is closed?",
    tuple(dict.fromkeys(version for version, _ in CASES)),
    run,
    write,
    plots,
)
