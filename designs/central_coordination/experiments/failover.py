"""Central coordination (document 001): the coordinator dies, between rebalances and in each phase of one.

"The new coordinator will not try to connect to the consumers but wait for the consumers to realize the
previous coordinator is dead and try to re-connect to the new one." The coordinator dies between two of its
actions: earlier actions are done, later ones are not. Consumers read meanwhile, and each record is counted.
It belongs to document 001, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.brokers.listener import Address, Send
from barnabas.designs.central_coordination.experiments.consumers import (
    EVERY_MS,
    Reading,
    reading,
    registering,
    shared,
)  # fmt: skip
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ReadOffsets,
    StoreOffsets,
)  # fmt: skip
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.central_coordination.peers.wire import read_request
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import median_and_most, of_runs, table_of, total
from barnabas.designs.results.markdown import bullets, paragraphs, sequences
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.specs.malformed import Malformed

QUESTION: Final = (
    "What does a centrally coordinated group read twice, or not at all, if its coordinator dies?"
)
SESSION_MS: Final = 1_500
ROUNDS: Final = 20
SHORT: Final = {"session": 600, "rounds": 1}
PARTITIONS: Final = ("0-0", "0-1", "0-2", "0-3", "0-4", "0-5")
RECORDS: Final = 40
"""Records of each partition that are read before anything happens, without a report."""
READ_ON: Final = 0.1
"""Seconds for which consumers read when they own all."""

AT_ONCE, LATE = "all at once", "one of them late"
KINDS: Final = (AT_ONCE, LATE)
"""The times at which consumers notice the death."""
APIS: Final = ("RegisterConsumer", "StopFetcher", "StartFetcher")

Kind = Callable[[BrokerAction], bool]


def asks(api: str) -> Kind:
    """Return a check that an action sends a request of this API."""

    def does(action: BrokerAction) -> bool:
        try:
            return isinstance(action, Send) and read_request(action.data[4:])[0] == api
        except Malformed:  # a response
            return False

    return does


STEADY: Final = "1: steady"
PHASES: Final[tuple[tuple[str, Kind, int, str], ...]] = (
    (STEADY, asks("Ping"), 1, "between rebalances"),
    ("2: begun", asks("StopFetcher"), 1, "before it stopped anybody"),
    ("3: stopping", asks("StopFetcher"), 2, "when one consumer was told to stop"),
    (
        "4: stopped",
        lambda action: isinstance(action, StoreOffsets),
        1,
        "when all had, before the write",
    ),
    ("5: stored", lambda action: isinstance(action, ReadOffsets), 1, "behind the write"),
    ("6: decided", asks("StartFetcher"), 1, "before it started anybody"),
    ("7: starting", asks("StartFetcher"), 2, "when one consumer was told to start"),
)
"""(name, an action, its number, in words): it dies right before that one."""


def run(bench: Bench) -> Measured:
    """Run all phases in rounds, each with a group of its own, on the same brokers."""
    how = bench.settings(SHORT, session=SESSION_MS, rounds=ROUNDS)
    runs, exchanges = asyncio.run(_rounds(bench, how))
    pictures: dict[str, Any] = {}
    for each_run in runs:
        group, died, end = each_run.pop("group"), each_run.pop("died"), each_run.pop("end")
        if each_run["kind"] == AT_ONCE or each_run["phase"] == STEADY:
            name = f"{each_run['phase']}; they notice {each_run['kind']}"
            group_exchanges = experiment_support.of_group(
                exchanges, group, died - 20_000_000, end, APIS
            )
            pictures.setdefault(name, design_steps(group_exchanges))
    return {"how": how, "runs": runs, "drawn": pictures}


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    trap = experiment_support.Trap()
    arms = [(phase, kind) for phase, *_ in PHASES for kind in KINDS]
    settings = BrokerSettings(min_session_timeout_ms=how["session"])
    async with Cluster(2, topics={}, settings=settings, watch=trap.watch) as cluster:

        async def each(address: Address, number: int, phase: str, kind: str) -> Run:
            group, read = f"p{phase[0]}k{KINDS.index(kind)}r{number}", Reading()
            registrations = [
                registering(address, group, name, group, how["session"]) for name in "abc"
            ]
            async with reading(read, *registrations) as clients:
                times = await _run_group(cluster, trap, clients, read, phase, kind)
            return {"phase": phase, "kind": kind, "group": group, **times}

        return await experiment_support.rounds(
            bench, cluster.bootstrap, "central-coordination", how["rounds"], arms, each
        )


async def _run_group(
    cluster: Cluster,
    trap: experiment_support.Trap,
    clients: list[Client],
    read: Reading,
    phase: str,
    kind: str,
) -> Run:
    """Stop the coordinator, and count what was read until the group and its brokers were whole again."""
    group, count = clients[0].core.settings.group_id, len(PARTITIONS)
    await cluster.grow(group, *PARTITIONS)  # a topic of its name
    await experiment_support.until(lambda: shared(clients, count), f"group {group}")
    await experiment_support.until(lambda: read.least >= RECORDS, f"what {group} reads")
    server = cluster.coordinator
    assert server is not None  # noqa: S101 - it has just shared all out
    trap.arm(server.node, *next((action, at) for name, action, at, _ in PHASES if name == phase))
    if phase != STEADY:
        count += 1
        await cluster.grow(group, "1-0")
    await asyncio.wait_for(trap.sprung.wait(), experiment_support.PATIENCE)
    died = trap.died_at
    lost = {client: client.core.losses for client in clients}
    present = clients
    if kind == LATE:
        *present, read.paused = clients
        read.paused.pause()
    await cluster.stop(server.node)
    await experiment_support.until(
        lambda: _reconnected(present, lost) and shared(present, count),
        f"group {group} after the death",
    )
    ms = (time.time_ns() - died) / 1e6
    if read.paused is not None:
        await asyncio.sleep(READ_ON)
        read.paused.resume()
        await experiment_support.until(
            lambda: _reconnected(clients, lost), f"who was late in {group}"
        )
        read.paused = None
        await experiment_support.until(lambda: shared(clients, count), f"the whole group {group}")
    await asyncio.sleep(READ_ON)
    following = cluster.coordinator
    assert following is not None  # noqa: S101 - it has shared all out
    rebalances = following.core.groups[group].rebalances
    await cluster.start(server.node, server.listener.address)
    return {
        "died": died,
        "end": time.time_ns(),
        "ms": round(ms, 1),
        "rebalances": rebalances,
        "behind": len(read.behind),
        "ahead": len(read.ahead),
        "twice": read.twice,
        "missed": read.missed,
    }


def _reconnected(clients: list[Client], lost: dict[Client, int]) -> bool:
    """Check that all consumers have lost a connection since."""
    return all(client.core.losses > lost[client] for client in clients)


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    late = select(runs, kind=LATE)
    unstored = [each_run for each_run in late if each_run["phase"] < PHASES[4][0]]
    stored = [each_run for each_run in late if each_run["phase"] >= PHASES[4][0]]
    return paragraphs(
        "Peers of the draft central-coordination: two brokers, three consumers (session timeout "
        f"{how['session']} ms), {len(PARTITIONS)} partitions, and one more as the reason of the rebalance "
        f"(not in phase 1); {how['rounds']} rounds. Consumers read a record of each partition every "
        f"{EVERY_MS} ms, at least {RECORDS} before anything happens; until then none of them was stored. "
        "The coordinator's connections close when it dies. Either all consumers notice that, or one is "
        f"paused, as by a collection of garbage, until the others have owned all for {READ_ON * 1e3:.0f} ms.",
        table_of(runs, {
            "phase": "phase",
            "it died": lambda cell: next(when for name, *_, when in PHASES if name == cell[0]["phase"]),
            "consumers notice": "kind",
            "until they own all (ms): median, slowest": median_and_most("ms"),
            "rebalances that follow": lambda cell: ", ".join(
                map(str, sorted(set(figures(cell, "rebalances"))))
            ),
            "runs with a partition begun behind": of_runs(lambda each_run: each_run["behind"]),
            "records read twice: median, most": median_and_most("twice"),
            "not read": total("missed"),
        }),
        "## What follows",
        bullets([
            f"In {len(runs)} of {len(runs)} runs the group came to own all partitions again. "
            f"{sum(figures(runs, 'missed'))} records were not read by anybody, and "
            f"{sum(figures(runs, 'ahead'))} partitions began ahead of what was read.",
            f"If all notice at once, {_late(select(runs, kind=AT_ONCE))}. Who registers while the "
            "coordinator waits for answers to stop-fetcher is asked, too; who is too late for that is asked "
            "in the rebalance that follows, and what others read of its partitions until then is read twice.",
            "Nobody waits for a consumer that has not registered yet, and nobody else knows where it was. "
            f"If one notices late, then before the offsets are stored (phases 1 to 4) {_late(unstored)}; "
            f"behind that (5 to 7), {_late(stored)}. When it is there its partitions begin where it was, "
            "if that is farther.",
            "The document stores offsets when fetchers are stopped, and at no other time: what a dead "
            "coordinator costs grows with the time since the last rebalance.",
        ]),
        "## One run of each, as captured",
        sequences(measured["drawn"]),
    )  # fmt: skip


def _late(runs: list[Run]) -> str:
    count = sum(each_run["behind"] > 0 for each_run in runs)
    most = max(figures(runs, "twice"))
    return f"partitions began behind what was read in {count} of {len(runs)} runs" + (
        f" (at most {most} records were read twice)" if most else ""
    )


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how much was read twice, and how long the group was without its partitions."""
    return {
        name: plots.dots(
            title,
            unit,
            {
                phase[3:]: figures(select(measured["runs"], phase=phase, kind=kind), figure)
                for phase, *_ in PHASES
            },
        )
        for name, title, unit, kind, figure in (
            ("twice", "Records read twice, if one consumer notices late", "records", LATE, "twice"),
            (
                *("recovery", "From the death until all own all, if all notice at once"),
                *("ms", AT_ONCE, "ms"),
            ),
        )
    }


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
