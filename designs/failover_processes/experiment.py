"""The coordinator of a group is killed or stopped, with brokers as processes, a real ZooKeeper, and records.

It compares both designs that never shipped (documents 000 and 001). Each run has brokers, a group and a topic
of its own. Figures about consumers and coordinators are from the captures, live brokers and leaders from
ZooKeeper. It belongs to both documents, so it has a folder of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.processes.cluster import ProcessCluster
from barnabas.designs.commands import either
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.failover_processes.process_groups import EVERY, ReadRecords, Watch, producing
from barnabas.designs.options import addresses
from barnabas.designs.protocol_guide.client_0_8 import Client
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column, median_and_most, table_of, total
from barnabas.designs.results.markdown import bullets, paragraphs
from barnabas.designs.results.runs import Run, figures, group, select
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.peers.apache.keeper import ZooKeeper

QUESTION: Final = (
    "How long is a group of the designs that never shipped without its coordinator, with brokers that are "
    "processes and a real ZooKeeper?"
)
BROKERS, MEMBERS, PARTITIONS = 3, 3, 6
SESSIONS: Final = (2, 6)
"""s after which ZooKeeper ends the session of a broker that is silent."""
ROUNDS: Final = 2
STOPPED: Final = 10.0
"""Seconds for which a broker is stopped: longer than its session, and the consumers'."""
SHORT: Final = {"sessions": (1,), "rounds": 1, "stopped": 2.0}
BEFORE: Final = 20
"""Records of each partition that are consumed before anything happens."""
READ_ON: Final = 1.0
"""s for which records are produced when all partitions are fetched again."""
AGAIN: Final = 20
"""Attempts until all consumers of a killed coordinator have another one."""
KILLED, PAUSED = "killed", "stopped"
DIALECTS: Final = {"rewrite": "rewrite-0.8.2", "central": "central-coordination"}
BACK: Final = {"rewrite": ("Heartbeat", "JoinGroup", "OffsetCommit"), "central": ("StartFetcher",)}
"""APIs whose success shows that a consumer has a coordinator again, and may fetch its partitions."""
JOINS: Final = ("JoinGroup", "RegisterConsumer")


def run(bench: Bench) -> Measured:
    """Run all arms in rounds, on one ZooKeeper."""
    how = bench.settings(SHORT, sessions=SESSIONS, rounds=ROUNDS, stopped=STOPPED)
    arms = list(product(DIALECTS, (KILLED, PAUSED), how["sessions"]))
    step = bench.counter(how["rounds"] * len(arms))
    runs: list[Run] = []
    with ZooKeeper() as keeper, (bench.folder / "notes").open("w") as notes:
        for number, (design, kind, expiry) in product(range(how["rounds"]), arms):
            step(f"{design}, {kind}")
            group = f"{kind}-{expiry}-{number}"
            pause = how["stopped"] if kind == PAUSED else None
            with ProcessCluster(
                design,
                BROKERS,
                topics={group: PARTITIONS},
                zookeeper=keeper.address,
                expiry=expiry,
                notes=notes,
            ) as cluster:
                measured = asyncio.run(_run_group(bench, cluster, group, pause))
            arm = {"design": design, "kind": kind, "session": expiry, "round": number}
            runs.append({**arm, **measured})
    return {"how": how, "runs": runs}


async def _run_group(bench: Bench, cluster: ProcessCluster, group: str, pause: float | None) -> Run:
    """Kill or stop a coordinator, and return the consequences for its group."""
    bootstrap, dialect = addresses(cluster.bootstrap), DIALECTS[cluster.design]
    read, over = ReadRecords(PARTITIONS), asyncio.Event()
    watch = await asyncio.to_thread(Watch, cluster, group)
    try:
        name = f"{cluster.design}-{group}"
        async with experiment_support.passing(bench, bootstrap, dialect, name) as proxy:
            at = await asyncio.to_thread(_all, address_of(proxy))
            members = [
                asyncio.create_task(
                    either.consume(
                        *(cluster.design, at, group, f"{group}-{number}", group),
                        *(read.take, lambda line: None, over),
                    )
                )
                for number in range(MEMBERS)
            ]
            with producing(bootstrap, group, PARTITIONS) as producers:
                await experiment_support.until(
                    lambda: read.least() >= BEFORE, f"what {group} reads"
                )
                times = await _stop_coordinator(cluster, watch, read, pause)
                for _ in range(AGAIN):
                    await asyncio.sleep(READ_ON)
                    exchanges = experiment_support.captured_exchanges(proxy, dialect)
                    there = back(exchanges, cluster.design, times["died"], times["node"])
                    if pause is not None or there is not None:
                        break
                await asyncio.gather(*(asyncio.to_thread(producer.stop) for producer in producers))
            acknowledged = {value for producer in producers for value in producer.acknowledged}
            with contextlib.suppress(TimeoutError):
                await experiment_support.until(
                    lambda: acknowledged <= read.values, f"the end of {group}"
                )
            over.set()
            await asyncio.gather(*members)
    finally:
        watch.close()
    died, node = times.pop("died"), times["node"]
    exchanges = experiment_support.captured_exchanges(proxy, dialect)
    return {
        **times,
        "coordinated_ms": back(exchanges, cluster.design, died, node),
        "joins": sum(
            exchange.api in JOINS and exchange.ts > died and exchange.error == ""
            for exchange in exchanges
        ),
        "acknowledged": len(acknowledged),
        "missed": len(acknowledged - read.values),
        "twice": sum(counts.total() - len(counts) for counts in read.times.values()),
    }


def _all(bootstrap: Address) -> tuple[Address, ...]:
    """Return all brokers as a proxy names them: a stopped one must not be the only known one."""
    with Client([bootstrap]) as client:
        return tuple(client.refresh().brokers.values())


async def _stop_coordinator(
    cluster: ProcessCluster, watch: Watch, read: ReadRecords, pause: float | None
) -> dict[str, Any]:
    """Kill or stop the coordinator; return ms until others notice, and until records arrive again."""
    node = watch.coordinator
    assert node is not None  # noqa: S101 - the group has come together
    process = cluster.brokers[node].pid
    its = {partition for partition in read.times if partition[1] % BROKERS + 1 == node}
    read.since = died = time.time_ns()
    os.kill(process, signal.SIGKILL if pause is None else signal.SIGSTOP)
    times = asyncio.gather(
        _wait_ms(lambda: node not in watch.live, "the end of its session"),
        _wait_ms(lambda: watch.coordinator not in {node, None}, "another coordinator"),
        _wait_ms(lambda: not read.times.keys() - its - read.again.keys(), "records of the others"),
        _wait_ms(lambda: its <= read.again.keys(), "records of what it led"),
    )
    if pause is not None:
        await asyncio.sleep(pause)
        os.kill(process, signal.SIGCONT)
    names = ("session_ms", "elected_ms", "others_ms", "its_ms")
    taken = dict(zip(names, await times, strict=True))
    return {"died": died, "node": node, **{name: _ms(at - died) for name, at in taken.items()}}


async def _wait_ms(condition: Callable[[], bool], awaited: str) -> int:
    await experiment_support.until(condition, awaited)
    return time.time_ns()


def back(exchanges: Iterable[DialectExchange], design: str, died: int, node: int) -> float | None:
    """Return ms until all consumers have another coordinator; None: not all have one."""
    first: dict[str, int] = {}
    for exchange in exchanges:
        if (
            exchange.api in BACK[design]
            and exchange.ts > died
            and exchange.broker != node
            and exchange.error == ""
        ):
            first[exchange.client] = min(
                exchange.end or 0, first.get(exchange.client, exchange.end or 0)
            )
    return _ms(max(first.values()) - died) if len(first) == MEMBERS else None


def _ms(nanoseconds: int) -> float:
    return round(nanoseconds / 1e6, 1)


def _times(name: str) -> Column:
    times = median_and_most(name)
    return lambda cell_runs: (
        times(cell_runs) if figures(cell_runs, name) else "not before it went on"
    )


COLUMNS: Final[dict[str, str | Column]] = {
    "design": "design",
    "it is": "kind",
    "session (s)": "session",
    "its ZooKeeper session is over": _times("session_ms"),
    "another coordinator is elected": _times("elected_ms"),
    "all consumers have it": _times("coordinated_ms"),
    "the others' partitions are fetched": _times("others_ms"),
    "its partitions are fetched": _times("its_ms"),
    "read twice": total("twice"),
    "not read": total("missed"),
}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    return paragraphs(
        f"{BROKERS} brokers of a design, each a process with a ZooKeeper session of its own, {MEMBERS} "
        f"consumers with the designs' default settings (session timeout 6 s), {PARTITIONS} partitions, of "
        "which the coordinator leads two. A record of each partition is produced every "
        f"{EVERY * 1e3:.0f} ms, and again until it is acknowledged. The coordinator is killed (SIGKILL), or "
        f"stopped (SIGSTOP) and continued {how['stopped']:.0f} s later. "
        f"{how['rounds']} rounds. Times are ms from the signal: median, slowest. A partition is fetched "
        "again when a consumer has a record that was produced behind the signal.",
        table_of(runs, COLUMNS),
        "## What follows",
        bullets(_follows(runs, how["stopped"])),
    )


def _follows(runs: list[Run], pause: float) -> Iterator[str]:
    acknowledged, missed, twice = (
        sum(figures(runs, name)) for name in ("acknowledged", "missed", "twice")
    )
    yield (
        f"Of {acknowledged} records that were acknowledged {missed} were not read. {twice} reads were of a "
        "record that had been read before."
    )
    killed, stopped = (select(runs, kind=kind) for kind in (KILLED, PAUSED))
    for design in DIALECTS:
        takeover_ms = [
            each_run["coordinated_ms"] - each_run["session_ms"]
            for each_run in select(killed, design=design)
            if each_run["coordinated_ms"]
        ]
        if takeover_ms:
            yield (
                f"A coordinator of {design} that is killed costs its ZooKeeper session, and then "
                f"{statistics.median(takeover_ms):.0f} ms "
                f"({min(takeover_ms):.0f} to {max(takeover_ms):.0f}) until all consumers have another one."
            )
    for design in DIALECTS:
        matching = select(killed, design=design)
        between = sum(each_run["others_ms"] < each_run["session_ms"] for each_run in matching)
        yield (
            f"{design}: without a coordinator the others' partitions are fetched in {between} "
            f"of {len(matching)} runs (killed)."
        )
    for design in DIALECTS:
        matching = select(stopped, design=design)
        none = sum(each_run["coordinated_ms"] is None for each_run in matching)
        twice = sum(each_run["twice"] > 0 for each_run in matching)
        yield (
            f"{design}: not all consumers had another coordinator than the stopped one in {none} of "
            f"{len(matching)} runs, and records were read twice in {twice}."
        )
    yield (
        "A coordinator that is silent is noticed by a consumer's own times, which count beside ZooKeeper's: "
        "a heartbeat of the rewrite may take a session (6 s), a commit 3 s. A consumer of central "
        "coordination takes half a session without a ping for a failure."
    )
    yield (
        "Records of the rewrite are read twice where a consumer's session is over before it has found the "
        "next coordinator: all since the last commit that was answered, however often it commits."
    )
    waited = sum(each_run["its_ms"] > pause * 1e3 for each_run in stopped)
    yield (
        f"What a stopped broker led was not fetched before it went on in {waited} of {len(stopped)} runs: it "
        "has the logs locked, though others lead them by then. There are no replicas here."
    )


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how long groups were without a coordinator, and partitions without a leader."""
    plotted = {
        "coordinated": ("coordinated_ms", "all consumers have another coordinator"),
        "fetched": ("its_ms", "what it led is fetched again"),
    }
    return {
        file: plots.dots(
            f"From the signal until {event}",
            "ms",
            {
                f"{design} {kind} {expiry} s": figures(arm_runs, name)
                for (design, kind, expiry), arm_runs in group(
                    measured["runs"], "design", "kind", "session"
                ).items()
            },
        )
        for file, (name, event) in plotted.items()
    }


EXPERIMENT: Final = Experiment(QUESTION, ("3.9.1",), run, write, drawn)
