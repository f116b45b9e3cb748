"""The bounds of the rebalance latency of the consumer rewrite, by its document (000).

"The heartbeat.frequency puts a lower bound on the rebalance latency since the co-ordinator notifies a
consumer regarding a rebalance operation through the heartbeat response"; a JoinGroup with an empty consumer
id makes the coordinator wait "a full session.timeout.ms".

Groups of all arms run at one coordinator; a new partition makes all of them rebalance at once. A
heartbeat.frequency of 1 is a case of its own: the next heartbeat is due when the session is just over. Such a
group is left alone for a while, next to one with the least frequency of the others. It belongs to document
000, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from barnabas.designs import experiment_support
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import middle_of, of_runs, share_of, table_of
from barnabas.designs.results.diagram import sequence
from barnabas.designs.results.intervals import middle
from barnabas.designs.results.markdown import bullets, mermaid, paragraphs
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of

QUESTION: Final = (
    "How long does a rebalance of the consumer rewrite take, by heartbeat.frequency and consumer "
    "id?"
)
SESSION_MS: Final = 2_000
FREQUENCIES: Final = (2, 3, 5, 10)
ALONE: Final = (1, 2)
"""heartbeat.frequency of the groups that are left alone."""
SESSIONS: Final = 20
"""Sessions for which they are."""
NAMES: Final = "abc"
MEMBERS: Final = len(NAMES)
ROUNDS: Final = 40
SHORT: Final = {"session": 400, "frequencies": (2, 10), "rounds": 1, "sessions": 4}
WITH, WITHOUT = "with its consumer id", "without a consumer id"
ARMS: Final = ((WITH, True), (WITHOUT, False))
DRAWN: Final = 2
"""heartbeat.frequency of the group whose last rebalance is drawn."""


def run(bench: Bench) -> Measured:
    """Run all groups at once, in rounds; then leave some alone."""
    how = bench.settings(
        SHORT, session=SESSION_MS, frequencies=FREQUENCIES, rounds=ROUNDS, sessions=SESSIONS
    )
    begun, departed, exchanges = asyncio.run(_rounds(bench, how))

    def of(group: str, begin: int, end: int = sys.maxsize) -> list[DialectExchange]:
        return [
            exchange
            for exchange in exchanges
            if exchange.request.get("group_id") == group and begin <= exchange.ts < end
        ]

    runs = [
        {"arm": arm, "frequency": frequency, "round": number, **parts(of(group, begin, end), begin)}
        for arm, _ in ARMS
        for frequency in how["frequencies"]
        for group in [name_of(arm, frequency)]
        for number, (begin, end) in enumerate(pairwise([*begun, sys.maxsize]))
    ]
    alone = [
        {"frequency": frequency, **quiet_counts(of(alone_name(frequency), departed))}
        for frequency in ALONE
    ]
    drawn = design_steps(refusal_to_join(of(name_of(WITH, DRAWN), begun[-1])))
    return {"how": how, "runs": runs, "alone": alone, "drawn": drawn}


def name_of(arm: str, frequency: int) -> str:
    """Return the name of an arm's group."""
    return f"{'id' if arm == WITH else 'anonymous'}-{frequency}"


def alone_name(frequency: int) -> str:
    """Return the name of the group with this frequency that is left alone."""
    return f"alone-{frequency}"


def quiet_counts(within: Sequence[DialectExchange]) -> dict[str, Any]:
    """Count what an undisturbed group does: heartbeats by their answers, joins, generations."""
    beats = Counter(
        "no answer" if exchange.end is None else exchange.error or "no error"
        for exchange in within
        if exchange.api == "Heartbeat"
    )
    joins = [
        exchange for exchange in within if exchange.api == "JoinGroup" and exchange.error == ""
    ]
    generations = {consumers.generation(exchange) for exchange in joins}
    return {"heartbeats": dict(beats), "joins": len(joins), "generations": len(generations)}


def refusal_to_join(exchanges: list[DialectExchange]) -> list[DialectExchange]:
    """Return a group's exchanges from the first refused heartbeat to the last join's answer."""
    refused = [exchange.ts for exchange in exchanges if exchange.error == "IllegalGeneration"]
    joined = [
        exchange.end for exchange in exchanges if exchange.api == "JoinGroup" and exchange.end
    ]
    if not (refused and joined):
        return []
    return [exchange for exchange in exchanges if min(refused) <= exchange.ts <= max(joined)]


def parts(within: list[DialectExchange], begin: int) -> dict[str, Any]:
    """Return the times (ms) until the last consumer was notified, had joined, and had its response."""
    refused = [
        exchange.end
        for exchange in within
        if exchange.error == "IllegalGeneration" and exchange.end
    ]
    joins = [
        exchange for exchange in within if exchange.api == "JoinGroup" and exchange.error == ""
    ]
    return {
        "told_ms": _ms(max(refused, default=None), begin),
        "joined_ms": _ms(max((exchange.ts for exchange in joins), default=None), begin),
        "answered_ms": _ms(
            max((exchange.end for exchange in joins if exchange.end), default=None), begin
        ),
        "joins": len(joins),
        "generations": sorted({consumers.generation(exchange) for exchange in joins}),
    }


def _ms(at: int | None, begin: int) -> float | None:
    return None if at is None else round((at - begin) / 1e6, 1)


async def _rounds(
    bench: Bench, how: dict[str, Any]
) -> tuple[list[int], int, list[DialectExchange]]:
    """Return when each round and the quiet time began (ns since 1970), and all exchanges."""
    dice, begun = random.Random(7), []  # noqa: S311 - phases, no secrets
    session, count = how["session"] / 1e3, MEMBERS
    async with (
        Cluster(1, topics={"t": MEMBERS}) as cluster,
        experiment_support.passing(bench, cluster.bootstrap, "rewrite-0.8.2") as proxy,
    ):

        def start(name: str, frequency: int, **more: Any) -> list[Client]:
            more |= {"session_timeout_ms": how["session"], "heartbeat_frequency": frequency}
            return consumers.consumers(address_of(proxy), name, NAMES, **more)

        groups = [
            start(name_of(arm, frequency), frequency, sends_consumer_id=with_id)
            for arm, with_id in ARMS
            for frequency in how["frequencies"]
        ]

        def settled() -> bool:
            return all(consumers.shared(group, count) for group in groups)

        async with consumers.polling([member for group in groups for member in group]):
            await experiment_support.until(settled, "a group of each arm")
            for number in range(how["rounds"]):
                bench.step(number, how["rounds"] + 1, "rebalances")
                # anywhere between two heartbeats
                await asyncio.sleep((1 + dice.random()) * session)
                count += 1
                begun.append(time.time_ns())
                await cluster.partitions("t", count)
                await experiment_support.until(settled, f"rebalance {number}")
        bench.step(how["rounds"], how["rounds"] + 1, "groups that are left alone")
        quiet = [
            member for frequency in ALONE for member in start(alone_name(frequency), frequency)
        ]
        async with consumers.polling(quiet):
            # until all have joined for the first time
            await asyncio.sleep(2 * session)
            departed = time.time_ns()
            await asyncio.sleep(how["sessions"] * session)
    return begun, departed, experiment_support.captured_exchanges(proxy, "rewrite-0.8.2")


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    session, ends = how["session"], (min(how["frequencies"]), max(how["frequencies"]))
    (low, high), (low_without, high_without) = (
        [
            middle(figures(select(runs, arm=arm, frequency=frequency), "answered_ms"))
            for frequency in ends
        ]
        for arm, _ in ARMS
    )
    return paragraphs(
        f"Peers of the draft rewrite-0.8.2; groups of {MEMBERS} consumers with a session timeout of "
        f"{session} ms, {how['rounds']} rounds. A topic gets a partition at a moment that has nothing to "
        "do with heartbeats; times count from there to what the capture shows. Medians of the rounds, "
        "with intervals of 95 % (by order statistics; shares: Wilson's).",
        table_of(runs, {
            "JoinGroup": "arm",
            "heartbeat.frequency": "frequency",
            "interval (ms)": lambda cell_runs: f"{session / cell_runs[0]['frequency']:.0f}",
            "last one told (ms)": middle_of("told_ms"),
            "told within an interval": lambda cell_runs: share_of(
                lambda each_run: each_run["told_ms"] <= session / each_run["frequency"]
            )([each_run for each_run in cell_runs if each_run["told_ms"] is not None]),
            "last one answered (ms)": middle_of("answered_ms"),
            "slowest": lambda cell_runs: f"{max(figures(cell_runs, 'answered_ms')):.0f}",
            "rebalances in one round": of_runs(lambda each_run: len(each_run["generations"]) == 1),
        }),
        "## What follows",
        bullets([
            f"With consumer ids the last one is answered {middle(_delays(runs, WITH))} ms after the "
            f"last one was told: the rebalance takes {low} ms at a frequency of {ends[0]}, "
            f"{high} ms at {ends[1]}. What bounds it is the interval between two heartbeats, as "
            "the document has it.",
            f"Without them it takes {low_without} ms at {ends[0]} and {high_without} ms at "
            f"{ends[1]}, of which {middle(_delays(runs, WITHOUT))} ms are behind the moment when the last "
            "one was told: the coordinator can't tell who has joined, and waits until the sessions of the "
            f"consumers that it knows are over ({session} ms behind their last heartbeat). A higher "
            "frequency shortens what comes before that, and nothing else.",
            f"A group in which nothing happens, for {how['sessions']} session timeouts "
            f"({how['sessions'] * session / 1e3:g} s): {'; '.join(map(_quiet, measured['alone']))}. At "
            "1 the next heartbeat is due when the session that the last one began is over: so such groups "
            "are not in the table.",
        ]),
        f"## A rebalance of group {name_of(WITH, DRAWN)}",
        mermaid(sequence(measured["drawn"])),
    )  # fmt: skip


def _delays(runs: list[Run], arm: str) -> list[float]:
    """Return the times between the last notified consumer and the last response."""
    return [
        each_run["answered_ms"] - each_run["told_ms"]
        for each_run in select(runs, arm=arm)
        if None not in (each_run["told_ms"], each_run["answered_ms"])
    ]


def _quiet(run: Run) -> str:
    """Describe what happened in a group that was left alone."""
    beats = dict(sorted(run["heartbeats"].items()))
    total, good = sum(beats.values()), beats.pop("no error", 0)
    errors = ", ".join(f"{count} {name}" for name, count in beats.items())
    return (
        f"at a frequency of {run['frequency']} it had {run['generations']} new generations, and of "
        f"{total} heartbeats {good} were answered without an error"
    ) + (f" ({errors})" if errors else "")


def drawn(measured: Measured) -> dict[str, str]:
    """Plot the latency against heartbeat.frequency."""
    series = {
        arm: [
            (run["frequency"], run["answered_ms"])
            for run in select(measured["runs"], arm=arm)
            if run["answered_ms"] is not None
        ]
        for arm, _ in ARMS
    }
    title = f"A rebalance, with a session timeout of {measured['how']['session']} ms"
    return {"latency": plots.lines(title, "heartbeat.frequency", "ms to the last answer", series)}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
