"""What bounds the time that a rebalance of the consumer rewrite takes, by its document (000).

"The heartbeat.frequency puts a lower bound on the rebalance latency since the co-ordinator notifies a
consumer regarding a rebalance operation through the heartbeat response"; a JoinGroup with an empty
consumer id makes the coordinator wait "a full session.timeout.ms".

Groups of all arms are at work at one coordinator; a partition more makes all of them rebalance at once.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from typing import Any, Final

from captures.dialects import DraftExchange
from experiments import plots
from experiments.diagram import draft_steps, sequence
from experiments.experiment import Bench, Experiment, Measured
from experiments.written import drafting
from peers.consumer_rewrite.client import Client
from peers.consumer_rewrite.server import Cluster
from peers.consumer_rewrite.settings import ConsumerSettings
from peers.listener import Address

SESSION_MS: Final = 2_000
FREQUENCIES: Final = (2, 3, 5, 10)
"""At 1 a heartbeat would be sent when the session is just over: such groups never settle."""
MEMBERS: Final = 3
DIALECT: Final = "rewrite-0.8.2"
ROUNDS: Final = 10
SHORT: Final = {"session": 400, "frequencies": (2, 10), "rounds": 1}
WITH, WITHOUT = "with its consumer id", "without a consumer id"
ARMS: Final = ((WITH, True), (WITHOUT, False))
DRAWN: Final = 2
"""heartbeat.frequency of the group whose last rebalance is drawn."""


def run(bench: Bench) -> Measured:
    """All groups at once, in rounds."""
    how: dict[str, Any] = {"session": SESSION_MS, "frequencies": FREQUENCIES, "rounds": ROUNDS}
    how |= SHORT if bench.short else {}
    how["frequencies"] = list(how["frequencies"])
    begun, proxy = asyncio.run(_rounds(bench, how))
    exchanges = drafting.seen(proxy, DIALECT)
    runs = []
    for arm, _ in ARMS:
        for frequency in how["frequencies"]:
            group = name_of(arm, frequency)
            own = [one for one in exchanges if one.request.get("group_id") == group]
            for number, (begin, end) in enumerate(zip(begun, [*begun[1:], None], strict=True)):
                within = [one for one in own if one.ts >= begin and (end is None or one.ts < end)]
                about = {"arm": arm, "frequency": frequency, "round": number}
                runs.append({**about, **parts(within, begin)})
    own = [one for one in exchanges if one.request.get("group_id") == name_of(WITH, DRAWN)]
    return {"how": how, "runs": runs, "drawn": draft_steps(told(own, begun[-1]))}


def name_of(arm: str, frequency: int) -> str:
    """The group of an arm."""
    return f"{'id' if arm == WITH else 'anonymous'}-{frequency}"


def told(own: list[DraftExchange], begin: int) -> list[DraftExchange]:
    """A group's exchanges from the first refused heartbeat to the last join's answer."""
    refused = [one.ts for one in own if one.ts >= begin and one.error == "IllegalGeneration"]
    joined = [one.end for one in own if one.ts >= begin and one.api == "JoinGroup" and one.end]
    if not (refused and joined):
        return []
    return [one for one in own if min(refused) <= one.ts <= max(joined)]


def parts(within: list[DraftExchange], begin: int) -> dict[str, Any]:
    """How long a rebalance took (ms): until the last consumer was told, had joined, was answered."""
    refused = [one.end for one in within if one.error == "IllegalGeneration" and one.end]
    joins = [one for one in within if one.api == "JoinGroup" and one.error == ""]
    return {
        "told_ms": _ms(max(refused, default=None), begin),
        "joined_ms": _ms(max((one.ts for one in joins), default=None), begin),
        "answered_ms": _ms(max((one.end for one in joins if one.end), default=None), begin),
        "joins": len(joins),
        "generations": sorted({_generation(one) for one in joins}),
    }


def _generation(join: DraftExchange) -> int:
    return -1 if join.response is None else int(join.response["group_generation_id"])


def _ms(at: int | None, begin: int) -> float | None:
    return None if at is None else round((at - begin) / 1e6, 1)


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[int], Any]:
    dice, begun = random.Random(7), []  # noqa: S311 - phases, no secrets
    async with Cluster(1, topics={"t": MEMBERS}) as cluster:
        async with drafting.passing(bench, cluster.bootstrap, bench.folder, DIALECT) as proxy:
            address = drafting.address_of(proxy)
            groups = {
                (arm, frequency): _group(address, arm, with_id, frequency, how["session"])
                for arm, with_id in ARMS
                for frequency in how["frequencies"]
            }
            clients = [one for group in groups.values() for one in group]
            count = MEMBERS

            def settled() -> bool:
                return all(drafting.shared(group, count) for group in groups.values())

            async with drafting.polling(clients):
                await drafting.until(settled, "a group of each arm")
                for number in range(how["rounds"]):
                    bench.step(number, how["rounds"], "rebalances")
                    # anywhere between two heartbeats
                    await asyncio.sleep((1 + dice.random()) * how["session"] / 1e3)
                    count += 1
                    begun.append(time.time_ns())
                    cluster.partitions("t", count)
                    await drafting.until(settled, f"rebalance {number}")
        return begun, proxy


def _group(
    address: Address, arm: str, with_id: bool, frequency: int, session_ms: int
) -> list[Client]:
    group = name_of(arm, frequency)
    found = []
    for number in range(MEMBERS):
        settings = ConsumerSettings(
            group,
            (address,),
            topics=("t",),
            client_id=f"{group}-{'abc'[number]}",
            session_timeout_ms=session_ms,
            heartbeat_frequency=frequency,
            sends_consumer_id=with_id,
            backoff_ms=20,
        )
        found.append(Client(settings))
        found[-1].start()
    return found


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, session = measured["how"], measured["how"]["session"]
    lines = [
        "| JoinGroup | heartbeat.frequency | interval (ms) | last one told (ms) | last one answered (ms) "
        "| slowest | rebalances in one round |",
        "|---|---|---|---|---|---|---|",
    ]
    medians: dict[tuple[str, int], float] = {}
    for arm, _ in ARMS:
        for frequency in how["frequencies"]:
            own = [r for r in measured["runs"] if (r["arm"], r["frequency"]) == (arm, frequency)]
            told = [one["told_ms"] for one in own if one["told_ms"] is not None]
            answered = [one["answered_ms"] for one in own if one["answered_ms"] is not None]
            single = sum(len(one["generations"]) == 1 for one in own)
            medians[arm, frequency] = statistics.median(answered)
            lines.append(
                f"| {arm} | {frequency} | {session / frequency:.0f} | {statistics.median(told):.0f} "
                f"| {medians[arm, frequency]:.0f} | {max(answered):.0f} | {single} of {len(own)} |"
            )
    low, high = min(how["frequencies"]), max(how["frequencies"])
    drawn = sequence(measured["drawn"])
    return (
        f"Peers of the draft rewrite-0.8.2; groups of {MEMBERS} consumers with a session timeout of "
        f"{session} ms, {how['rounds']} rounds. A topic gets a partition at a moment that has nothing to "
        "do with heartbeats; times count from there to what the capture shows. Medians of the rounds.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        f"- With consumer ids the rebalance is over as soon as the last consumer was told: "
        f"{medians[WITH, low]:.0f} ms at a frequency of {low}, {medians[WITH, high]:.0f} ms at {high}. "
        "The interval between two heartbeats is the bound that the document names.\n"
        f"- Without them it takes {medians[WITHOUT, low]:.0f} ms at {low} and "
        f"{medians[WITHOUT, high]:.0f} ms at {high}: the coordinator can't tell who has joined, and waits "
        f"until the sessions of the consumers that it knows are over ({session} ms behind their last "
        "heartbeat). A higher frequency does not help there.\n\n"
        f"## A rebalance of group {name_of(WITH, DRAWN)}\n\n```mermaid\n{drawn}\n```\n"
    )


def drawn(measured: Measured) -> dict[str, str]:
    """Latency against heartbeat.frequency."""
    series = {
        arm: [
            (run["frequency"], run["answered_ms"])
            for run in measured["runs"]
            if run["arm"] == arm and run["answered_ms"] is not None
        ]
        for arm, _ in ARMS
    }
    title = f"A rebalance, with a session timeout of {measured['how']['session']} ms"
    return {"latency": plots.lines(title, "heartbeat.frequency", "ms to the last answer", series)}


EXPERIMENT: Final = Experiment(
    "How long does a rebalance of the consumer rewrite take, by heartbeat.frequency and consumer id?",
    (),
    run,
    write,
    drawn,
)
