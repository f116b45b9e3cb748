"""Central coordination (document 001): a soft failure, as a pause of a consumer's process.

"Even if the consumer is going through a soft failure (GC), it will disconnect from the co-ordinator within
1/3*session_timeout and stop its fetchers until it has re-registered with the current co-ordinator."
Pings come every third of the session and are lost after two thirds; so many in a row make a failure.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.experiments.reading import registering, shared
from barnabas.designs.central_coordination.peers.actions import (
    ConsumerAction,
    StartFetchers,
    StopFetchers,
)
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments import plots
from barnabas.experiments.diagram import sequence
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of

SESSION_MS: Final = 900
PAUSES: Final = (0.5, 1.0, 1.5, 2.0, 3.0)
"""In sessions."""
ROUNDS: Final = 20
SHORT: Final = {"session": 450, "pauses": (0.5, 3.0), "rounds": 1}
PARTITIONS: Final = ("0-0", "0-1", "0-2", "0-3")
DRAWN: Final = 3.0
"""The pause of which one run is drawn."""


def run(bench: Bench) -> Measured:
    """All pauses at once, each with a group of its own, in rounds."""
    how: dict[str, Any] = {"session": SESSION_MS, "pauses": PAUSES, "rounds": ROUNDS}
    how |= SHORT if bench.short else {}
    how["pauses"] = list(how["pauses"])
    runs, proxy = asyncio.run(_all(bench, how))
    exchanges = experimenting.seen(proxy, "central-coordination")
    drawn: list[Any] = []
    for one in runs:
        begun, group, end = one.pop("begun"), one.pop("group"), one.pop("end")
        own = [
            each
            for each in exchanges
            if each.client.startswith(f"{group}-") and begun <= each.ts <= end
        ]
        one |= seen(own, f"{group}-paused", begun)
        if one["pause"] == DRAWN and not drawn:
            drawn = [*design_steps(own)]
    return {"how": how, "runs": runs, "drawn": drawn}


def seen(own: list[DialectExchange], paused: str, begun: int) -> dict[str, Any]:
    """What the coordinator did about the pause: pings without an answer, and when others were started."""
    lost = [one for one in own if one.client == paused and one.api == "Ping" and one.end is None]
    others = [one for one in own if one.client != paused and one.api == "StartFetcher"]
    first = min((one.ts for one in others), default=None)
    return {
        "unanswered_pings": len(lost),
        "others_started_ms": None if first is None else round((first - begun) / 1e6, 1),
        "registered_again": any(o.client == paused and o.api == "RegisterConsumer" for o in own),
    }


async def _all(bench: Bench, how: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    runs: list[dict[str, Any]] = []
    topics = {f"topic-p{at}": PARTITIONS for at in range(len(how["pauses"]))}
    settings = BrokerSettings(min_session_timeout_ms=how["session"], rebalance_threads=64)
    async with Cluster(1, topics=topics, settings=settings) as cluster:
        async with experimenting.passing(
            bench, cluster.bootstrap, bench.folder, "central-coordination"
        ) as proxy:
            address = address_of(proxy)

            async def work(at: int, pause: float) -> None:
                for number in range(how["rounds"]):
                    found = await _one(address, at, number, how["session"], pause)
                    runs.append({"pause": pause, "round": number, **found})
                    bench.step(len(runs), len(how["pauses"]) * how["rounds"], "pauses")

            await asyncio.gather(*(work(at, pause) for at, pause in enumerate(how["pauses"])))
        return runs, proxy


async def _one(
    address: Address, at: int, number: int, session_ms: int, pause: float
) -> dict[str, Any]:
    """One pause of one of two consumers, from when on the other one may own everything."""
    group = f"p{at}r{number}"
    told: list[tuple[int, str]] = []

    def watch(action: ConsumerAction) -> None:
        if isinstance(action, StartFetchers | StopFetchers):
            told.append((time.time_ns(), type(action).__name__))

    clients = [
        Client(
            registering(address, group, name, f"topic-p{at}", session_ms),
            watch if name == "paused" else None,
        )
        for name in ("paused", "other")
    ]
    try:
        for one in clients:
            one.start()
        await experimenting.until(lambda: shared(clients, len(PARTITIONS)), f"group {group}")
        await asyncio.sleep(session_ms / 3e3)
        # on a busy machine somebody may have been lost meanwhile: who pauses is to own something
        await experimenting.until(lambda: shared(clients, len(PARTITIONS)), f"group {group}")
        begun, told[:] = time.time_ns(), []
        clients[0].pause()
        await asyncio.sleep(pause * session_ms / 1e3)
        taken = len(clients[1].partitions) == len(PARTITIONS)
        end_of_pause = time.time_ns()
        clients[0].resume()
        # a ping's time later it has read what came, or found that nothing did
        await asyncio.sleep(session_ms / 3e3)
        await experimenting.until(
            lambda: shared(clients, len(PARTITIONS)), f"group {group} after its pause"
        )
        end = time.time_ns()
    finally:
        for one in clients:
            await one.stop()
    stopped = next((when for when, what in told if what == "StopFetchers"), None)
    return {
        "group": group,
        "begun": begun,
        "end": end,
        "failed": taken,
        "resumed_ms": round((end_of_pause - begun) / 1e6, 1),
        "stopped_ms": None if stopped is None else round((stopped - begun) / 1e6, 1),
        "shared_ms": round((end - begun) / 1e6, 1),
    }


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    session = how["session"]
    lines = [
        "| pause (sessions) | declared failed | pings unanswered | the other one owns all after "
        "(ms) | fetchers still on, though others have their partitions (ms) | of these after the "
        "pause (ms) |",
        "|---|---|---|---|---|---|",
    ]
    for pause in how["pauses"]:
        own = [one for one in runs if one["pause"] == pause]
        failed = [one for one in own if one["failed"]]
        taken = [one["others_started_ms"] for one in failed]
        pings = sorted({one["unanswered_pings"] for one in own})
        both = [_both(one) for one in failed]
        after = [one["stopped_ms"] - one["resumed_ms"] for one in failed if one["stopped_ms"]]
        lines.append(
            f"| {pause:g} | {len(failed)} of {len(own)} | {pings[0]} to {pings[-1]} | "
            f"{_median(taken)} | {_median(both)} | {_median(after)} |"
        )
    kept = [one for one in runs if not one["failed"]]
    stopped = sum(one["stopped_ms"] is not None for one in kept)
    others = " In the others nothing happened." if stopped < len(kept) else ""
    drawn = sequence(measured["drawn"]) if measured["drawn"] else ""
    picture = f"\n## A pause of {DRAWN:g} sessions, as captured\n\n```mermaid\n{drawn}\n```\n"
    return (
        "Peers of the draft central-coordination: a coordinator and groups of two consumers with a session "
        f"timeout of {session} ms; one of two pauses: it reads, answers and notices nothing, as in a long "
        f"collection of garbage. {how['rounds']} rounds. Medians, and in brackets the largest.\n\n"
        + "\n".join(lines)
        + f"\n\n## What follows\n\n- The coordinator forgave the pause in {len(kept)} of "
        f"{len(runs)} runs. In {stopped} of these the consumer itself found, when it went on, "
        "that it had heard nothing for too long: it stopped its fetchers and registered again, "
        f"which is a rebalance all the same.{others}\n- A consumer that is declared failed "
        "learns it when it resumes, not before: until then its fetchers count as running, and as "
        "soon as the other one is started, a partition has two owners. The paused consumer does "
        "nothing in that time; the rest after it resumes (last column) is the time in which both "
        "may really fetch, because nothing fences the older one.\n- The "
        "document's bound, that it disconnects within a third of the session, can hold for a "
        "running consumer; a paused one looks at its clock when the pause is over.\n"
        + (picture if drawn else "")
    )


def _both(one: dict[str, Any]) -> float:
    """How long two had the fetchers of a partition on (ms)."""
    end = one["stopped_ms"] if one["stopped_ms"] is not None else one["shared_ms"]
    return max(0.0, float(end - one["others_started_ms"]))


def _median(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} ({max(values):.0f})" if values else "-"


def drawn(measured: Measured) -> dict[str, str]:
    """How long a partition had two owners."""
    groups = {
        f"{pause:g} sessions": [
            _both(one) for one in measured["runs"] if one["pause"] == pause and one["failed"]
        ]
        for pause in measured["how"]["pauses"]
    }
    kept = {name: own for name, own in groups.items() if own}
    return {"owners": plots.dots("Two owners of a partition", "ms", kept)} if kept else {}


EXPERIMENT: Final = Experiment(
    "How does a centrally coordinated group handle a consumer that pauses?",
    (),
    run,
    write,
    drawn,
)
