"""A consumer of the consumer rewrite (document 000) that does not poll for longer than its session.

"If the slow consumer sends a HeartbeatRequest before the co-ordinator receives a HeartbeatRequest from any
of the rest of the consumers, it cancels the rebalance attempt"; else it is told to join, and is in the
round if its JoinGroup comes in time, or causes another one behind it.

Groups of all arms are at work at one coordinator at the same time.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments import plots
from barnabas.experiments.diagram import sequence
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of

SESSION_MS: Final = 1_000
FREQUENCIES: Final = (2, 10)
OVER_MS: Final = (50, 250, 600)
"""By how much a pause is longer than the session; it begins up to a heartbeat's interval after one."""
PARTITIONS: Final = 6
ROUNDS: Final = 20
SHORT: Final = {"session": 500, "over": (50, 400), "rounds": 1}

IN_TIME, CANCELLED = "in time", "rebalance cancelled"
JOINED, LEFT_OUT = "joined the round", "left out, joined the next one"
OTHERWISE: Final = "otherwise"
"""It sent no heartbeat behind the pause, since another rebalance was on: counted apart."""
OUTCOMES: Final = (IN_TIME, CANCELLED, JOINED, LEFT_OUT, OTHERWISE)


def run(bench: Bench) -> Measured:
    """All arms at once, each in rounds."""
    how: dict[str, Any] = {"session": SESSION_MS, "over": OVER_MS, "rounds": ROUNDS}
    how |= SHORT if bench.short else {}
    how |= {"over": list(how["over"]), "frequencies": list(FREQUENCIES)}
    pauses, proxy = asyncio.run(_all(bench, how))
    exchanges = experimenting.seen(proxy, "rewrite-0.8.2")
    runs, pictures = [], {}
    for group, frequency, over, begun, resumed, end in pauses:
        own = [one for one in exchanges if one.request.get("group_id") == group and one.ts < end]
        found = outcome(own, f"{group}-slow", begun, resumed, how["session"])
        runs.append({"frequency": frequency, "over": over, **found})
        if found["outcome"] not in pictures:
            pictures[found["outcome"]] = design_steps(_around(own, found["late_ms"], resumed))
    return {"how": how, "runs": runs, "drawn": pictures}


async def _all(bench: Bench, how: dict[str, Any]) -> tuple[list[tuple[Any, ...]], Any]:
    arms = [(frequency, over) for frequency in how["frequencies"] for over in how["over"]]
    done: list[tuple[Any, ...]] = []
    async with Cluster(1, topics={"t": PARTITIONS}) as cluster:
        async with experimenting.passing(
            bench, cluster.bootstrap, bench.folder, "rewrite-0.8.2"
        ) as proxy:
            address = address_of(proxy)

            async def work(frequency: int, over: int) -> None:
                group = f"f{frequency}-{over}"
                clients = consumers.consumers(
                    address,
                    group,
                    ("slow", "a", "b"),
                    session_timeout_ms=how["session"],
                    heartbeat_frequency=frequency,
                )
                async with consumers.polling(clients) as awake:
                    for _ in range(how["rounds"]):
                        found = await _pause(clients, awake[f"{group}-slow"], over, how["session"])
                        done.append((group, frequency, over, *found))
                        bench.step(len(done), len(arms) * how["rounds"], "pauses")

            await asyncio.gather(*(work(*arm) for arm in arms))
        return done, proxy


async def _pause(
    clients: list[Client], awake: asyncio.Event, over: int, session_ms: int
) -> tuple[int, int, int]:
    """One pause: when it began, when it ended, and when all was quiet again (ns)."""
    await experimenting.until(lambda: consumers.shared(clients, PARTITIONS), "a group")
    await asyncio.sleep(session_ms / 1e3)
    begun = time.time_ns()
    awake.clear()
    await asyncio.sleep((session_ms + over) / 1e3)
    resumed = time.time_ns()
    awake.set()
    await asyncio.sleep(1.2 * session_ms / 1e3)  # who is left out by then has heard of it
    await experimenting.until(
        lambda: consumers.shared(clients, PARTITIONS), "the group after a pause"
    )
    return begun, resumed, time.time_ns()


def outcome(
    own: list[DialectExchange], slow: str, begun: int, resumed: int, session_ms: int
) -> dict[str, Any]:
    """What a group's exchanges say of a pause. late_ms: of the heartbeat, behind the session's end."""
    beats = [one for one in own if one.client == slow and one.api == "Heartbeat"]
    last = next((one for one in reversed(beats) if one.ts < resumed and one.error == ""), None)
    first = next((one for one in beats if one.ts >= resumed and one.end is not None), None)
    joins = [one for one in own if one.api == "JoinGroup" and one.error == "" and one.ts >= begun]
    generations = sorted({consumers.generation(one) for one in joins})
    if first is None or last is None:
        about: dict[str, Any] = {"late_ms": 0.0, "answer": None, "reconnected": False}
        return {"outcome": OTHERWISE, **about, "generations": len(generations)}
    late = (first.ts - last.ts) / 1e6 - session_ms
    if first.error == "":
        what = CANCELLED if late > 0 else IN_TIME
    elif not generations:
        what = OTHERWISE
    elif any(one.client == slow and consumers.generation(one) == generations[0] for one in joins):
        what = JOINED
    else:
        what = LEFT_OUT
    return {
        "outcome": what,
        "late_ms": round(late, 1),
        "answer": first.error,
        "reconnected": first.connection != last.connection,
        "generations": len(generations),
    }


def _around(own: list[DialectExchange], late_ms: float, resumed: int) -> list[DialectExchange]:
    """From right before the session's end on."""
    begin = resumed - round(max(late_ms, 0) * 1e6) - 20_000_000
    apis = ("ConsumerMetadata", "Heartbeat", "JoinGroup")
    return [one for one in own if one.ts >= begin and one.api in apis][:24]


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| heartbeat.frequency | pause | " + " | ".join(OUTCOMES) + " | heartbeat late by (ms) |",
        "|---|---|" + "---|" * (len(OUTCOMES) + 1),
    ]
    for frequency in how["frequencies"]:
        for over in how["over"]:
            own = [one for one in runs if (one["frequency"], one["over"]) == (frequency, over)]
            counts = Counter(one["outcome"] for one in own)
            late = [one["late_ms"] for one in own if one["outcome"] != OTHERWISE] or [0.0]
            lines.append(
                f"| {frequency} | session + {over} ms | "
                + " | ".join(str(counts[name]) for name in OUTCOMES)
                + f" | {min(late):.0f} to {max(late):.0f}, median {statistics.median(late):.0f} |"
            )
    late_ones = [one for one in runs if one["outcome"] not in (IN_TIME, OTHERWISE)]
    again = sum(one["reconnected"] for one in late_ones)
    said = []
    for name in OUTCOMES[1:4]:
        own = [one for one in runs if one["outcome"] == name]
        if own:
            late = [one["late_ms"] for one in own]
            rounds = Counter(one["generations"] for one in own)
            said.append(
                f"- {name}: {len(own)} of {len(late_ones)} late heartbeats, {min(late):.0f} to "
                f"{max(late):.0f} ms behind the session's end; new generations: "
                + ", ".join(f"{count} in {times} runs" for count, times in sorted(rounds.items()))
            )
    pictures = "\n\n".join(
        f"### {name}\n\n```mermaid\n{sequence(steps)}\n```"
        for name, steps in measured["drawn"].items()
    )
    return (
        f"Peers of the draft rewrite-0.8.2; groups of a slow consumer and two others with a session "
        f"timeout of {how['session']} ms, {how['rounds']} rounds of each arm. The frequency is that of all "
        "three. Counted are pauses by what became of the slow consumer, as the capture shows it.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        + "\n".join(said)
        + f"\n- The coordinator breaks the connection when it takes the consumer for dead, so a late "
        f"heartbeat comes on a new connection, behind a ConsumerMetadata: in {again} of {len(late_ones)} "
        "cases. This way round belongs to the time in which another heartbeat may come first.\n"
        "- The window in which a rebalance can be cancelled ends with the next heartbeat of anybody else: "
        "the interval between heartbeats, divided among the others.\n"
        "- The answers to a round's JoinGroups set the clocks of all consumers alike: from then on their "
        "heartbeats come close together, and so do those that hear of the next rebalance. Between a "
        "rebalance of which nobody knows and one that is over there is little time to join it: "
        f"{sum(one['outcome'] == JOINED for one in runs)} of {len(late_ones)} late heartbeats met it.\n\n"
        f"## One run of each outcome, as captured\n\n{pictures}\n"
    )


def drawn(measured: Measured) -> dict[str, str]:
    """How late the heartbeats were, by outcome."""
    groups = {
        f"{name}, f={frequency}": [
            one["late_ms"]
            for one in measured["runs"]
            if (one["outcome"], one["frequency"]) == (name, frequency)
        ]
        for frequency in measured["how"]["frequencies"]
        for name in OUTCOMES[1:4]
    }
    kept = {name: own for name, own in groups.items() if own}
    if not kept:
        return {}
    return {"late": plots.dots("What became of late heartbeats", "ms behind the session", kept)}


EXPERIMENT: Final = Experiment(
    "When is a rebalance cancelled that a slow consumer has caused (consumer rewrite)?",
    (),
    run,
    write,
    drawn,
)
