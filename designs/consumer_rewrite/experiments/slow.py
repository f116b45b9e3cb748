"""A consumer of the consumer rewrite (document 000) that does not poll for longer than its session.

"If the slow consumer sends a HeartbeatRequest before the co-ordinator receives a HeartbeatRequest from any of
the rest of the consumers, it cancels the rebalance attempt"; else it must join, and is in the round if its
JoinGroup comes in time, or causes another round.

Groups of all arms run at one coordinator at the same time. It belongs to document 000, whose peers run here;
no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.brokers.listener import Address
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import Column, table_of
from barnabas.designs.results.markdown import bullets, paragraphs, sequences
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured

QUESTION: Final = (
    "When is a rebalance cancelled that a slow consumer has caused (consumer rewrite)?"
)
SESSION_MS: Final = 1_000
FREQUENCIES: Final = (2, 10)
OVER_MS: Final = (50, 250, 600)
"""Milliseconds by which a pause is longer than the session; it begins up to an interval after a heartbeat."""
PARTITIONS: Final = 6
ROUNDS: Final = 20
SHORT: Final = {"session": 500, "over": (50, 400), "rounds": 1}

IN_TIME, CANCELLED = "in time", "rebalance cancelled"
JOINED, LEFT_OUT = "joined the round", "left out, joined the next one"
OTHERWISE: Final = "otherwise"
"""It sent no heartbeat after the pause, since another rebalance had begun: counted separately."""
TIMES: Final = ("begun", "resumed", "end")
OUTCOMES: Final = (IN_TIME, CANCELLED, JOINED, LEFT_OUT, OTHERWISE)


def run(bench: Bench) -> Measured:
    """Run all arms at once, each in rounds."""
    how = bench.settings(
        SHORT, session=SESSION_MS, over=OVER_MS, rounds=ROUNDS, frequencies=FREQUENCIES
    )
    runs, exchanges = asyncio.run(_all(bench, how))
    pictures: dict[str, Any] = {}
    for each_run in runs:
        group, begun, resumed, end = (each_run.pop(name) for name in ("group", *TIMES))
        group_exchanges = [
            each for each in exchanges if each.request.get("group_id") == group and each.ts < end
        ]
        each_run |= outcome(group_exchanges, f"{group}-slow", begun, resumed, how["session"])
        if each_run["outcome"] not in pictures:
            pictures[each_run["outcome"]] = design_steps(
                _around(group_exchanges, each_run["late_ms"], resumed)
            )
    return {"how": how, "runs": runs, "drawn": pictures}


async def _all(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    arms = [(frequency, over) for frequency in how["frequencies"] for over in how["over"]]
    groups: dict[str, tuple[list[Client], dict[str, asyncio.Event]]] = {}
    settings = {"session_timeout_ms": how["session"]}
    async with Cluster(1, topics={"t": PARTITIONS}) as cluster, AsyncExitStack() as stack:

        async def each(address: Address, number: int, frequency: int, over: int) -> Run:
            group = f"f{frequency}-{over}"
            if not number:
                clients = consumers.consumers(
                    address, group, ("slow", "a", "b"), heartbeat_frequency=frequency, **settings
                )
                awake = await stack.enter_async_context(consumers.polling(clients))
                groups[group] = clients, awake
            clients, awake = groups[group]
            times = await _pause(clients, awake[f"{group}-slow"], over, how["session"])
            times_by_name = dict(zip(TIMES, times, strict=True))
            return {"frequency": frequency, "over": over, "group": group, **times_by_name}

        return await experiment_support.rounds(
            bench, cluster.bootstrap, "rewrite-0.8.2", how["rounds"], arms, each, at_once=True
        )


async def _pause(
    clients: list[Client], awake: asyncio.Event, over: int, session_ms: int
) -> tuple[int, int, int]:
    """Pause a consumer; return when the pause began, when it ended, and when the group was stable (ns)."""

    async def settle(awaited: str) -> None:
        await experiment_support.until(lambda: consumers.shared(clients, PARTITIONS), awaited)

    await settle("a group")
    await asyncio.sleep(session_ms / 1e3)
    begun = time.time_ns()
    awake.clear()
    await asyncio.sleep((session_ms + over) / 1e3)
    resumed = time.time_ns()
    awake.set()
    await asyncio.sleep(1.2 * session_ms / 1e3)  # a consumer that is left out knows it by then
    await settle("the group after a pause")
    return begun, resumed, time.time_ns()


def outcome(
    exchanges: list[DialectExchange], slow: str, begun: int, resumed: int, session_ms: int
) -> dict[str, Any]:
    """Return the outcome of a pause. late_ms: from the session's end to the heartbeat."""
    beats = [
        exchange
        for exchange in exchanges
        if exchange.client == slow and exchange.api == "Heartbeat"
    ]
    last = next(
        (
            exchange
            for exchange in reversed(beats)
            if exchange.ts < resumed and exchange.error == ""
        ),
        None,
    )
    first = next(
        (exchange for exchange in beats if exchange.ts >= resumed and exchange.end is not None),
        None,
    )
    joins = [
        exchange
        for exchange in exchanges
        if exchange.api == "JoinGroup" and exchange.error == "" and exchange.ts >= begun
    ]
    generations = sorted({consumers.generation(exchange) for exchange in joins})
    if first is None or last is None:
        result: dict[str, Any] = {"late_ms": 0.0, "answer": None, "reconnected": False}
        return {"outcome": OTHERWISE, **result, "generations": len(generations)}
    late = (first.ts - last.ts) / 1e6 - session_ms
    if first.error == "":
        name = CANCELLED if late > 0 else IN_TIME
    elif not generations:
        name = OTHERWISE
    elif any(
        exchange.client == slow and consumers.generation(exchange) == generations[0]
        for exchange in joins
    ):
        name = JOINED
    else:
        name = LEFT_OUT
    return {
        "outcome": name,
        "late_ms": round(late, 1),
        "answer": first.error,
        "reconnected": first.connection != last.connection,
        "generations": len(generations),
    }


def _around(
    exchanges: list[DialectExchange], late_ms: float, resumed: int
) -> list[DialectExchange]:
    """Return the exchanges from right before the session's end on."""
    begin = resumed - round(max(late_ms, 0) * 1e6) - 20_000_000
    apis = ("ConsumerMetadata", "Heartbeat", "JoinGroup")
    return [exchange for exchange in exchanges if exchange.ts >= begin and exchange.api in apis][
        :24
    ]


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    by_arm = sorted(runs, key=lambda each_run: (each_run["frequency"], each_run["over"]))
    late_ones = [each_run for each_run in runs if each_run["outcome"] not in (IN_TIME, OTHERWISE)]
    return paragraphs(
        f"Peers of the draft rewrite-0.8.2; groups of a slow consumer and two others with a session "
        f"timeout of {how['session']} ms, {how['rounds']} rounds of each arm. The frequency is that of all "
        "three. Counted are pauses by what became of the slow consumer, as the capture shows it.",
        table_of(
            [{**each_run, "over": f"session + {each_run['over']} ms"} for each_run in by_arm],
            {
                "heartbeat.frequency": "frequency",
                "pause": "over",
                **{name: _came_to(name) for name in OUTCOMES},
                "heartbeat late by (ms)": _lateness,
            },
        ),
        "## What follows",
        bullets([
            *_late(late_ones),
            "The coordinator breaks the connection when it takes the consumer for dead, so a late heartbeat "
            "comes on a new connection, behind a ConsumerMetadata: in "
            f"{sum(figures(late_ones, 'reconnected'))} of {len(late_ones)} cases. This way round belongs to "
            "the time in which another heartbeat may come first.",
            "The window in which a rebalance can be cancelled ends with the next heartbeat of anybody else: "
            "the interval between heartbeats, divided among the others.",
            "The answers to a round's JoinGroups set the clocks of all consumers alike: from then on their "
            "heartbeats come close together, and so do those that hear of the next rebalance. Between a "
            "rebalance of which nobody knows and one that is over there is little time to join it: "
            f"{len(select(runs, outcome=JOINED))} of {len(late_ones)} late heartbeats met it.",
        ]),
        "## One run of each outcome, as captured",
        sequences(measured["drawn"]),
    )  # fmt: skip


def _came_to(outcome: str) -> Column:
    return lambda cell_runs: len(select(cell_runs, outcome=outcome))


def _lateness(cell_runs: list[Run]) -> str:
    late = [run["late_ms"] for run in cell_runs if run["outcome"] != OTHERWISE] or [0.0]
    return f"{min(late):.0f} to {max(late):.0f}, median {statistics.median(late):.0f}"


def _late(late_ones: list[Run]) -> Iterator[str]:
    for name in OUTCOMES[1:4]:
        if outcome_runs := select(late_ones, outcome=name):
            late = figures(outcome_runs, "late_ms")
            rounds = Counter(figures(outcome_runs, "generations"))
            yield (
                f"{name}: {len(outcome_runs)} of {len(late_ones)} late heartbeats, {min(late):.0f} to "
                f"{max(late):.0f} ms behind the session's end; new generations: "
                + ", ".join(f"{count} in {times} runs" for count, times in sorted(rounds.items()))
            )


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how late the heartbeats were, by outcome."""
    groups = {
        f"{name}, f={frequency}": figures(outcome_runs, "late_ms")
        for frequency in measured["how"]["frequencies"]
        for name in OUTCOMES[1:4]
        if (outcome_runs := select(measured["runs"], outcome=name, frequency=frequency))
    }
    title = "What became of late heartbeats"
    return {"late": plots.dots(title, "ms behind the session", groups)} if groups else {}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
