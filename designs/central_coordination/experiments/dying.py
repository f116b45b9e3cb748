"""Central coordination (document 001): one consumer dies when it is told to start its fetchers.

"If any reply is not received after the timeout value, the coordinator will retry the rebalance procedure
by marking the consumer as failed and sending the stop-fetcher request to everybody else."
"""

from __future__ import annotations

import asyncio
import statistics
import time
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.brokers.listener import Address
from barnabas.designs.central_coordination.experiments.reading import registering, shared
from barnabas.designs.central_coordination.peers.actions import ConsumerAction, StartFetchers
from barnabas.designs.central_coordination.peers.client import Client
from barnabas.designs.central_coordination.peers.server import Cluster
from barnabas.designs.central_coordination.peers.settings import BrokerSettings
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments import plots
from barnabas.experiments.diagram import sequence
from barnabas.experiments.experiment import Bench, Between, Experiment, Measured

SESSIONS_MS: Final = (600, 1_500)
ROUNDS: Final = 20
SHORT: Final = {"sessions": (600,), "rounds": 1}
PARTITIONS: Final = ("0-0", "0-1", "0-2", "0-3", "0-4", "0-5")

NOBODY, CLOSED, SILENT = (
    "nobody dies",
    "its connection closes",
    "its connection stays, and is silent",
)
KINDS: Final = (NOBODY, CLOSED, SILENT)
APIS: Final = ("RegisterConsumer", "StopFetcher", "StartFetcher")


def run(bench: Bench) -> Measured:
    """All kinds in rounds, each with a group and a topic of its own."""
    how: dict[str, Any] = {
        "sessions": SESSIONS_MS,
        "rounds": ROUNDS,
        **(SHORT if bench.short else {}),
    }
    how["sessions"] = list(how["sessions"])
    runs, proxy = asyncio.run(_rounds(bench, how))
    exchanges = experimenting.seen(proxy, "central-coordination")
    pictures: dict[str, Any] = {}
    for one in runs:
        begun, group, end = one.pop("begun"), one.pop("group"), one.pop("end")
        own = [
            each
            for each in exchanges
            if each.client.startswith(f"{group}-") and begun <= each.ts <= end and each.api in APIS
        ]
        one |= counted(own, f"{group}-dies")
        if one["kind"] not in pictures:
            pictures[one["kind"]] = design_steps(own)
    return {"how": how, "runs": runs, "drawn": pictures}


def counted(own: list[DialectExchange], dies: str) -> dict[str, Any]:
    """What the coordinator asked of those that live, how long the rebalance took (ms), and how many sessions
    ended besides."""
    others = [one for one in own if one.client != dies]
    stops = [one for one in others if one.api == "StopFetcher"]
    starts = [one for one in others if one.api == "StartFetcher" and one.end is not None]
    first = min((one.ts for one in stops), default=None)
    last = max((one.end for one in starts if one.end), default=None)
    return {
        "stops": len(stops),
        "starts": len(starts),
        "took_ms": None if first is None or last is None else round((last - first) / 1e6, 1),
        "unanswered": sum(one.end is None for one in own if one.client == dies),
        "registered_again": sum(one.api == "RegisterConsumer" for one in own),
    }


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[dict[str, Any]], Between]:
    arms = [(kind, session) for session in how["sessions"] for kind in KINDS]
    settings = BrokerSettings(min_session_timeout_ms=min(how["sessions"]))
    async with Cluster(1, topics={}, settings=settings) as cluster:

        async def each(address: Address, number: int, kind: str, session: int) -> dict[str, Any]:
            group = f"s{session}k{KINDS.index(kind)}r{number}"
            found = await _one(cluster, address, group, session, kind)
            return {"session": session, "kind": kind, "round": number, "group": group, **found}

        return await experimenting.rounds(
            bench, cluster.bootstrap, "central-coordination", how["rounds"], arms, each
        )


async def _one(
    cluster: Cluster, address: Address, group: str, session_ms: int, kind: str
) -> dict[str, Any]:
    """A partition more, and what the group makes of it; ms until those that live own all."""
    topic, armed, died = f"topic-{group}", asyncio.Event(), asyncio.Event()
    await cluster.grow(topic, *PARTITIONS)

    def dies(action: ConsumerAction) -> None:
        if armed.is_set() and isinstance(action, StartFetchers):
            died.set()
            raise asyncio.CancelledError

    clients = [
        Client(
            registering(address, group, name, topic, session_ms),
            dies if name == "dies" else None,
        )
        for name in ("dies", "a", "b")
    ]
    try:
        for one in clients:
            one.start()
        await experimenting.until(lambda: shared(clients, len(PARTITIONS)), f"group {group}")
        for one in clients:
            for at in one.partitions:
                one.consumed(at, 42)
        lives = clients
        if kind != NOBODY:
            armed.set()
            lives = clients[1:]
        begun = time.time_ns()
        await cluster.grow(topic, "1-0")
        if kind == CLOSED:
            await asyncio.wait_for(died.wait(), experimenting.PATIENCE)
            await clients[0].stop()
        await experimenting.until(
            lambda: shared(lives, len(PARTITIONS) + 1), f"group {group} again"
        )
        end = time.time_ns()
        offsets = [offset for one in lives for offset in one.partitions.values()]
    finally:
        for one in clients:
            await one.stop()
    kept = offsets.count(42)
    return {"begun": begun, "end": end, "ms": round((end - begun) / 1e6, 1), "positions_kept": kept}


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| session (ms) | the consumer that is told to start | the rebalance takes (ms): median, longest "
        "| stop-fetchers to each of the others | requests to it unanswered | offsets kept |",
        "|---|---|---|---|---|---|",
    ]
    medians: dict[tuple[int, str], float] = {}
    for session in how["sessions"]:
        for kind in KINDS:
            own = [one for one in runs if (one["session"], one["kind"]) == (session, kind)]
            taken = [one["took_ms"] for one in own]
            medians[session, kind] = statistics.median(taken)
            stops = sorted({one["stops"] / 2 for one in own})
            kept = sum(one["positions_kept"] for one in own)
            lines.append(
                f"| {session} | {kind} | {medians[session, kind]:.0f}, {max(taken):.0f} "
                f"| {', '.join(f'{count:g}' for count in stops)} "
                f"| {sum(one['unanswered'] for one in own)} in {len(own)} runs "
                f"| {kept} of {len(PARTITIONS) * len(own)} |"
            )
    silent = "; ".join(
        f"{medians[session, SILENT]:.0f} ms of a session of {session} ms (2/3 are {session * 2 / 3:.0f})"
        for session in how["sessions"]
    )
    pictures = "\n\n".join(
        f"### {kind}\n\n```mermaid\n{sequence(steps)}\n```"
        for kind, steps in measured["drawn"].items()
    )
    return (
        "Peers of the draft central-coordination: a coordinator, a group of three consumers, and a "
        f"partition more as the reason of the rebalance; {how['rounds']} rounds. The consumer dies when it "
        "has read start-fetcher, before it answers. A rebalance lasts from the first stop-fetcher to the "
        "last answer to start-fetcher, as the capture shows them.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n- A consumer that goes silent costs the group the time for "
        f"which the coordinator waits for its answer: {silent}. Meanwhile the others, which "
        "have answered, fetch their partitions, and nobody fetches those of the dead one; then "
        "they are stopped again.\n- If its connection is closed the coordinator knows at once, "
        "and the second attempt follows.\n- In both cases one retry is enough, the dead "
        "consumer's partitions go to the others, and they begin where it had stopped: "
        "stop-fetcher's answer has brought its offsets before it died.\n\n## One run of each, "
        f"as captured\n\n{pictures}\n"
    )


def drawn(measured: Measured) -> dict[str, str]:
    """How long rebalances took."""
    groups = {
        f"{kind.split(',')[0]}, {session} ms": [
            one["took_ms"]
            for one in measured["runs"]
            if (one["session"], one["kind"]) == (session, kind)
        ]
        for session in measured["how"]["sessions"]
        for kind in KINDS
    }
    return {"took": plots.dots("From the first stop to the last start", "ms", groups)}


EXPERIMENT: Final = Experiment(
    "What does a consumer that dies during start-fetcher cost a centrally coordinated group?",
    (),
    run,
    write,
    drawn,
)
