"""Central coordination (document 001): a soft failure, as a pause of a consumer's process.

"Even if the consumer is going through a soft failure (GC), it will disconnect from the co-ordinator within
1/3*session_timeout and stop its fetchers until it has re-registered with the current co-ordinator."
Pings come every third of the session and are lost after two thirds; so many in a row make a failure.
It belongs to document 001, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.experiments.consumers import registering, running, shared
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StopFetchers
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column, of_runs, table_of
from barnabas.designs.results.diagram import sequence
from barnabas.designs.results.markdown import bullets, mermaid, paragraphs
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured

QUESTION: Final = "How does a centrally coordinated group handle a consumer that pauses?"
SESSION_MS: Final = 900
PAUSES: Final = (0.5, 1.0, 1.5, 2.0, 3.0)
"""Lengths of pauses in sessions."""
ROUNDS: Final = 20
SHORT: Final = {"session": 450, "pauses": (0.5, 3.0), "rounds": 1}
PARTITIONS: Final = ("0-0", "0-1", "0-2", "0-3")
DRAWN: Final = 3.0
"""The pause of which one run is drawn."""


def run(bench: Bench) -> Measured:
    """Run all pauses at once, each with a group of its own, in rounds."""
    how = bench.settings(SHORT, session=SESSION_MS, pauses=PAUSES, rounds=ROUNDS)
    runs, exchanges = asyncio.run(_all(bench, how))
    drawn: list[Any] = []
    for each_run in runs:
        begun, group, end = each_run.pop("begun"), each_run.pop("group"), each_run.pop("end")
        group_exchanges = experiment_support.of_group(exchanges, group, begun, end)
        each_run |= pings_and_starts(group_exchanges, f"{group}-paused", begun)
        if each_run["pause"] == DRAWN and not drawn:
            drawn = [*design_steps(group_exchanges)]
    return {"how": how, "runs": runs, "drawn": drawn}


def pings_and_starts(exchanges: list[DialectExchange], paused: str, begun: int) -> dict[str, Any]:
    """Return the pings without an answer during the pause, and when others were started."""
    lost = [
        exchange
        for exchange in exchanges
        if exchange.client == paused and exchange.api == "Ping" and exchange.end is None
    ]
    others = [
        exchange
        for exchange in exchanges
        if exchange.client != paused and exchange.api == "StartFetcher"
    ]
    first = min((exchange.ts for exchange in others), default=None)
    return {
        "unanswered_pings": len(lost),
        "others_started_ms": None if first is None else round((first - begun) / 1e6, 1),
        "registered_again": any(
            o.client == paused and o.api == "RegisterConsumer" for o in exchanges
        ),
    }


async def _all(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    topics = {f"topic-p{at}": PARTITIONS for at in range(len(how["pauses"]))}
    settings = BrokerSettings(min_session_timeout_ms=how["session"], rebalance_threads=64)
    async with Cluster(1, topics=topics, settings=settings) as cluster:

        async def each(address: Address, number: int, pause: float) -> Run:
            at = how["pauses"].index(pause)
            times = await _pause_consumer(address, at, number, how["session"], pause)
            return {"pause": pause, "round": number, **times}

        arms = [(pause,) for pause in how["pauses"]]
        return await experiment_support.rounds(
            bench,
            cluster.bootstrap,
            "central-coordination",
            how["rounds"],
            arms,
            each,
            at_once=True,
        )


async def _pause_consumer(
    address: Address, at: int, number: int, session_ms: int, pause: float
) -> Run:
    """Pause one of two consumers, and find when the other one may own everything."""
    group = f"p{at}r{number}"
    stops: list[int] = []

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StopFetchers):
            stops.append(time.time_ns())

    async def settle(awaited: str) -> None:
        await experiment_support.until(
            lambda: shared(clients, len(PARTITIONS)), f"group {group}{awaited}"
        )

    clients = [
        Client(registering(address, group, name, f"topic-p{at}", session_ms), does)
        for name, does in (("paused", watch), ("other", None))
    ]
    async with running(clients):
        await settle("")
        await asyncio.sleep(session_ms / 3e3)
        # on a busy machine a consumer may be lost meanwhile: the paused one must own partitions
        await settle("")
        begun = time.time_ns()
        stops.clear()
        clients[0].pause()
        await asyncio.sleep(pause * session_ms / 1e3)
        taken = len(clients[1].partitions) == len(PARTITIONS)
        resumed = time.time_ns()
        clients[0].resume()
        # a ping's interval later it has read everything, or found nothing
        await asyncio.sleep(session_ms / 3e3)
        await settle(" after its pause")
        end = time.time_ns()
    return {
        "group": group,
        "begun": begun,
        "end": end,
        "failed": taken,
        "resumed_ms": round((resumed - begun) / 1e6, 1),
        "stopped_ms": round((stops[0] - begun) / 1e6, 1) if stops else None,
        "shared_ms": round((end - begun) / 1e6, 1),
    }


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    kept = select(runs, failed=False)
    stopped = len(figures(kept, "stopped_ms"))
    others = " In the others nothing happened." if stopped < len(kept) else ""
    picture = measured["drawn"] and (
        f"## A pause of {DRAWN:g} sessions, as captured",
        mermaid(sequence(measured["drawn"])),
    )
    return paragraphs(
        "Peers of the draft central-coordination: a coordinator and groups of two consumers with a session "
        f"timeout of {how['session']} ms; one of two pauses: it reads, answers and notices nothing, as in a "
        f"long collection of garbage. {how['rounds']} rounds. Medians, and in brackets the largest.",
        table_of(
            sorted(runs, key=lambda each_run: each_run["pause"]),
            {
                "pause (sessions)": "pause",
                "declared failed": of_runs(lambda each_run: each_run["failed"]),
                "pings unanswered": _pings,
                "the other one owns all after (ms)": _failed(lambda each_run: each_run["others_started_ms"]),
                "fetchers still on, though others have their partitions (ms)": _failed(_overlap_ms),
                "of these after the pause (ms)": _failed(_overrun_ms),
            },
        ),
        "## What follows",
        bullets([
            f"The coordinator forgave the pause in {len(kept)} of {len(runs)} runs. In {stopped} of these "
            "the consumer itself found, when it went on, that it had heard nothing for too long: it stopped "
            f"its fetchers and registered again, which is a rebalance all the same.{others}",
            "A consumer that is declared failed learns it when it resumes, not before: until then its "
            "fetchers count as running, and as soon as the other one is started, a partition has two owners. "
            "The paused consumer does nothing in that time; the rest after it resumes (last column) is the "
            "time in which both may really fetch, because nothing fences the older one.",
            "The document's bound, that it disconnects within a third of the session, can hold for a "
            "running consumer; a paused one looks at its clock when the pause is over.",
        ]),
        *picture,
    )  # fmt: skip


def _pings(cell_runs: list[Run]) -> str:
    pings = sorted(figures(cell_runs, "unanswered_pings"))
    return f"{pings[0]} to {pings[-1]}"


def _failed(of: Callable[[Run], float | None]) -> Column:
    """Return a column with the median and the largest time after which a consumer was declared failed."""

    def cell(cell_runs: list[Run]) -> str:
        values = [
            each
            for each_run in select(cell_runs, failed=True)
            if (each := of(each_run)) is not None
        ]
        return f"{statistics.median(values):.0f} ({max(values):.0f})" if values else "-"

    return cell


def _overlap_ms(run: Run) -> float:
    """Return how long two consumers had the fetchers of a partition on (ms)."""
    end = run["stopped_ms"] if run["stopped_ms"] is not None else run["shared_ms"]
    return max(0.0, float(end - run["others_started_ms"]))


def _overrun_ms(run: Run) -> float | None:
    """Return how long two consumers may have fetched after the pause (ms); None: not at all."""
    return run["stopped_ms"] - run["resumed_ms"] if run["stopped_ms"] else None


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how long a partition had two owners."""
    groups = {
        f"{pause:g} sessions": [_overlap_ms(each_run) for each_run in arm_runs]
        for pause in measured["how"]["pauses"]
        if (arm_runs := select(measured["runs"], pause=pause, failed=True))
    }
    return {"owners": plots.dots("Two owners of a partition", "ms", groups)} if groups else {}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
