"""Central coordination (document 001): one consumer dies when it is told to start its fetchers.

"If any reply is not received after the timeout value, the coordinator will retry the rebalance procedure
by marking the consumer as failed and sending the stop-fetcher request to everybody else."
It belongs to document 001, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.experiments.consumers import registering, running, shared
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import median_and_most, table_of, total
from barnabas.designs.results.markdown import bullets, paragraphs, sequences
from barnabas.designs.results.runs import Run, figures, group, select
from barnabas.experiments.experiment import Bench, Experiment, Measured

QUESTION: Final = (
    "What does a consumer that dies during start-fetcher cost a centrally coordinated group?"
)
SESSIONS_MS: Final = (600, 1_500)
ROUNDS: Final = 20
SHORT: Final = {"sessions": (600,), "rounds": 1}
PARTITIONS: Final = ("0-0", "0-1", "0-2", "0-3", "0-4", "0-5")

NOBODY, CLOSED = "nobody dies", "its connection closes"
SILENT: Final = "its connection stays, and is silent"
KINDS: Final = (NOBODY, CLOSED, SILENT)
APIS: Final = ("RegisterConsumer", "StopFetcher", "StartFetcher")


def run(bench: Bench) -> Measured:
    """Run all kinds in rounds, each with a group and a topic of its own."""
    how = bench.settings(SHORT, sessions=SESSIONS_MS, rounds=ROUNDS)
    runs, exchanges = asyncio.run(_rounds(bench, how))
    pictures: dict[str, Any] = {}
    for each_run in runs:
        begun, name, end = each_run.pop("begun"), each_run.pop("group"), each_run.pop("end")
        group_exchanges = experiment_support.of_group(exchanges, name, begun, end, APIS)
        each_run |= rebalance_figures(group_exchanges, f"{name}-dies")
        pictures.setdefault(each_run["kind"], design_steps(group_exchanges))
    return {"how": how, "runs": runs, "drawn": pictures}


def rebalance_figures(exchanges: list[DialectExchange], dies: str) -> dict[str, Any]:
    """Return the coordinator's requests to the live consumers, and how long the rebalance took (ms)."""
    others = [exchange for exchange in exchanges if exchange.client != dies]
    stops = [exchange for exchange in others if exchange.api == "StopFetcher"]
    starts = [
        exchange
        for exchange in others
        if exchange.api == "StartFetcher" and exchange.end is not None
    ]
    first = min((exchange.ts for exchange in stops), default=None)
    last = max((exchange.end for exchange in starts if exchange.end), default=None)
    return {
        "stops": len(stops),
        "starts": len(starts),
        "took_ms": None if first is None or last is None else round((last - first) / 1e6, 1),
        "unanswered": sum(
            exchange.end is None for exchange in exchanges if exchange.client == dies
        ),
        "registered_again": sum(exchange.api == "RegisterConsumer" for exchange in exchanges),
    }


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    arms = [(kind, session) for session in how["sessions"] for kind in KINDS]
    settings = BrokerSettings(min_session_timeout_ms=min(how["sessions"]))
    async with Cluster(1, topics={}, settings=settings) as cluster:

        async def each(address: Address, number: int, kind: str, session: int) -> Run:
            name = f"s{session}k{KINDS.index(kind)}r{number}"
            times = await _run_group(cluster, address, name, session, kind)
            return {"session": session, "kind": kind, "round": number, "group": name, **times}

        return await experiment_support.rounds(
            bench, cluster.bootstrap, "central-coordination", how["rounds"], arms, each
        )


async def _run_group(
    cluster: Cluster, address: Address, name: str, session_ms: int, kind: str
) -> Run:
    """Add a partition, and return how long the live consumers took to own all (ms)."""
    topic, armed, died = f"topic-{name}", asyncio.Event(), asyncio.Event()
    await cluster.grow(topic, *PARTITIONS)

    def dies(action: ConsumerAction) -> None:
        if armed.is_set() and isinstance(action, StartFetchers):
            died.set()
            raise asyncio.CancelledError

    clients = [
        Client(registering(address, name, client, topic, session_ms), watch)
        for client, watch in (("dies", dies), ("a", None), ("b", None))
    ]
    async with running(clients):
        await experiment_support.until(lambda: shared(clients, len(PARTITIONS)), f"group {name}")
        for living in clients:
            for at in living.partitions:
                living.consumed(at, 42)
        lives = clients
        if kind != NOBODY:
            armed.set()
            lives = clients[1:]
        begun = time.time_ns()
        await cluster.grow(topic, "1-0")
        if kind == CLOSED:
            await asyncio.wait_for(died.wait(), experiment_support.PATIENCE)
            await clients[0].stop()
        await experiment_support.until(
            lambda: shared(lives, len(PARTITIONS) + 1), f"group {name} again"
        )
        end = time.time_ns()
        kept_positions = [
            offset for living in lives for offset in living.partitions.values()
        ].count(42)
    return {
        "begun": begun,
        "end": end,
        "ms": round((end - begun) / 1e6, 1),
        "positions_kept": kept_positions,
    }


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    silent = "; ".join(
        f"{statistics.median(figures(cell, 'took_ms')):.0f} ms of a session of {session} ms "
        f"(2/3 are {session * 2 / 3:.0f})"
        for (session,), cell in group(select(runs, kind=SILENT), "session").items()
    )
    partition_count = len(PARTITIONS)
    return paragraphs(
        "Peers of the draft central-coordination: a coordinator, a group of three consumers, and a "
        f"partition more as the reason of the rebalance; {how['rounds']} rounds. The consumer dies when it "
        "has read start-fetcher, before it answers. A rebalance lasts from the first stop-fetcher to the "
        "last answer to start-fetcher, as the capture shows them.",
        table_of(runs, {
            "session (ms)": "session",
            "the consumer that is told to start": "kind",
            "the rebalance takes (ms): median, longest": median_and_most("took_ms"),
            "stop-fetchers to each of the others": lambda cell: ", ".join(
                f"{stops / 2:g}" for stops in sorted(set(figures(cell, "stops")))
            ),
            "requests to it unanswered": lambda cell: f"{total('unanswered')(cell)} in {len(cell)} runs",
            "offsets kept": lambda cell: f"{total('positions_kept')(cell)} of {partition_count * len(cell)}",
        }),
        "## What follows",
        bullets([
            "A consumer that goes silent costs the group the time for which the coordinator waits for "
            f"its answer: {silent}. Meanwhile the others, which have answered, fetch their "
            "partitions, and nobody fetches those of the dead one; then they are stopped again.",
            "If its connection is closed the coordinator knows at once, and the second attempt follows.",
            "In both cases one retry is enough, the dead consumer's partitions go to the others, and they "
            "begin where it had stopped: stop-fetcher's answer has brought its offsets before it died.",
        ]),
        "## One run of each, as captured",
        sequences(measured["drawn"]),
    )  # fmt: skip


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how long rebalances took."""
    groups = {
        f"{kind.split(',')[0]}, {session} ms": figures(arm_runs, "took_ms")
        for (session, kind), arm_runs in group(measured["runs"], "session", "kind").items()
    }
    return {"took": plots.dots("From the first stop to the last start", "ms", groups)}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
