"""What bounds the time that a rebalance of the consumer rewrite takes, by its document (000).

"The heartbeat.frequency puts a lower bound on the rebalance latency since the co-ordinator notifies a
consumer regarding a rebalance operation through the heartbeat response"; a JoinGroup with an empty
consumer id makes the coordinator wait "a full session.timeout.ms".

Groups of all arms are at work at one coordinator; a partition more makes all of them rebalance at once.
A heartbeat.frequency of 1 is a case of its own: the next heartbeat is due when the session is just over.
Such a group is left alone for a while, beside one with the least frequency of the others.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments import plots
from barnabas.experiments.diagram import sequence
from barnabas.experiments.experiment import Bench, Experiment, Measured, address_of
from barnabas.experiments.intervals import middle, share

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
    """All groups at once, in rounds; then those that are left alone."""
    how: dict[str, Any] = {"session": SESSION_MS, "frequencies": FREQUENCIES, "rounds": ROUNDS}
    how |= {"sessions": SESSIONS, **(SHORT if bench.short else {})}
    how["frequencies"] = list(how["frequencies"])
    begun, left, proxy = asyncio.run(_rounds(bench, how))
    exchanges = experimenting.seen(proxy, "rewrite-0.8.2")
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
    alone = []
    for frequency in ALONE:
        within = [
            one
            for one in exchanges
            if one.request.get("group_id") == alone_name(frequency) and one.ts >= left
        ]
        alone.append({"frequency": frequency, **unrest(within)})
    return {
        "how": how,
        "runs": runs,
        "alone": alone,
        "drawn": design_steps(told(own, begun[-1])),
    }


def name_of(arm: str, frequency: int) -> str:
    """The group of an arm."""
    return f"{'id' if arm == WITH else 'anonymous'}-{frequency}"


def alone_name(frequency: int) -> str:
    """The group with this frequency that is left alone."""
    return f"alone-{frequency}"


def unrest(within: Sequence[DialectExchange]) -> dict[str, Any]:
    """What a group does that nobody disturbs: heartbeats by how they are answered, joins, generations."""
    beats = Counter(
        "no answer" if one.end is None else one.error or "no error"
        for one in within
        if one.api == "Heartbeat"
    )
    joins = [one for one in within if one.api == "JoinGroup" and one.error == ""]
    generations = {consumers.generation(one) for one in joins}
    return {"heartbeats": dict(beats), "joins": len(joins), "generations": len(generations)}


def told(own: list[DialectExchange], begin: int) -> list[DialectExchange]:
    """A group's exchanges from the first refused heartbeat to the last join's answer."""
    refused = [one.ts for one in own if one.ts >= begin and one.error == "IllegalGeneration"]
    joined = [one.end for one in own if one.ts >= begin and one.api == "JoinGroup" and one.end]
    if not (refused and joined):
        return []
    return [one for one in own if min(refused) <= one.ts <= max(joined)]


def parts(within: list[DialectExchange], begin: int) -> dict[str, Any]:
    """How long a rebalance took (ms): until the last consumer was told, had joined, was answered."""
    refused = [one.end for one in within if one.error == "IllegalGeneration" and one.end]
    joins = [one for one in within if one.api == "JoinGroup" and one.error == ""]
    return {
        "told_ms": _ms(max(refused, default=None), begin),
        "joined_ms": _ms(max((one.ts for one in joins), default=None), begin),
        "answered_ms": _ms(max((one.end for one in joins if one.end), default=None), begin),
        "joins": len(joins),
        "generations": sorted({consumers.generation(one) for one in joins}),
    }


def _ms(at: int | None, begin: int) -> float | None:
    return None if at is None else round((at - begin) / 1e6, 1)


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[int], int, Any]:
    """When each round began, and when the groups that are left alone did (ns since 1970)."""
    dice, begun = random.Random(7), []  # noqa: S311 - phases, no secrets
    async with Cluster(1, topics={"t": MEMBERS}) as cluster:
        async with experimenting.passing(
            bench, cluster.bootstrap, bench.folder, "rewrite-0.8.2"
        ) as proxy:
            address = address_of(proxy)
            groups = {
                (arm, frequency): consumers.consumers(
                    address,
                    name_of(arm, frequency),
                    NAMES,
                    session_timeout_ms=how["session"],
                    heartbeat_frequency=frequency,
                    sends_consumer_id=with_id,
                )
                for arm, with_id in ARMS
                for frequency in how["frequencies"]
            }
            clients = [one for group in groups.values() for one in group]
            count = MEMBERS

            def settled() -> bool:
                return all(consumers.shared(group, count) for group in groups.values())

            async with consumers.polling(clients):
                await experimenting.until(settled, "a group of each arm")
                for number in range(how["rounds"]):
                    bench.step(number, how["rounds"] + 1, "rebalances")
                    # anywhere between two heartbeats
                    await asyncio.sleep((1 + dice.random()) * how["session"] / 1e3)
                    count += 1
                    begun.append(time.time_ns())
                    await cluster.partitions("t", count)
                    await experimenting.until(settled, f"rebalance {number}")
            bench.step(how["rounds"], how["rounds"] + 1, "groups that are left alone")
            quiet = [
                one
                for frequency in ALONE
                for one in consumers.consumers(
                    address,
                    alone_name(frequency),
                    NAMES,
                    session_timeout_ms=how["session"],
                    heartbeat_frequency=frequency,
                )
            ]
            async with consumers.polling(quiet):
                # until all have joined for the first time
                await asyncio.sleep(2 * how["session"] / 1e3)
                left = time.time_ns()
                await asyncio.sleep(how["sessions"] * how["session"] / 1e3)
        return begun, left, proxy


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, session = measured["how"], measured["how"]["session"]
    lines = [
        "| JoinGroup | heartbeat.frequency | interval (ms) | last one told (ms) | told within an interval "
        "| last one answered (ms) | slowest | rebalances in one round |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for arm, _ in ARMS:
        for frequency in how["frequencies"]:
            own = _own(measured, arm, frequency)
            told, answered = (_known(own, name) for name in ("told_ms", "answered_ms"))
            interval = session / frequency
            single = sum(len(one["generations"]) == 1 for one in own)
            lines.append(
                f"| {arm} | {frequency} | {interval:.0f} | {middle(told)} "
                f"| {share(sum(one <= interval for one in told), len(told))} "
                f"| {middle(answered)} | {max(answered):.0f} | {single} of {len(own)} |"
            )
    low, high = min(how["frequencies"]), max(how["frequencies"])
    last = {
        (arm, frequency): middle(_known(_own(measured, arm, frequency), "answered_ms"))
        for arm, _ in ARMS
        for frequency in (low, high)
    }
    return (
        f"Peers of the draft rewrite-0.8.2; groups of {MEMBERS} consumers with a session timeout of "
        f"{session} ms, {how['rounds']} rounds. A topic gets a partition at a moment that has nothing to "
        "do with heartbeats; times count from there to what the capture shows. Medians of the rounds, "
        "with intervals of 95 % (by order statistics; shares: Wilson's).\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        f"- With consumer ids the last one is answered {middle(_behind(measured, WITH))} ms after the "
        f"last one was told: the rebalance takes {last[WITH, low]} ms at a frequency of {low}, "
        f"{last[WITH, high]} ms at {high}. What bounds it is the interval between two heartbeats, as "
        "the document has it.\n"
        f"- Without them it takes {last[WITHOUT, low]} ms at {low} and {last[WITHOUT, high]} ms at "
        f"{high}, of which {middle(_behind(measured, WITHOUT))} ms are behind the moment when the last "
        "one was told: the coordinator can't tell who has joined, and waits until the sessions of the "
        f"consumers that it knows are over ({session} ms behind their last heartbeat). A higher "
        "frequency shortens what comes before that, and nothing else.\n"
        + _left_alone(measured)
        + f"\n## A rebalance of group {name_of(WITH, DRAWN)}\n\n"
        f"```mermaid\n{sequence(measured['drawn'])}\n```\n"
    )


def _own(measured: Measured, arm: str, frequency: int) -> list[dict[str, Any]]:
    return [one for one in measured["runs"] if (one["arm"], one["frequency"]) == (arm, frequency)]


def _known(runs: list[dict[str, Any]], name: str) -> list[float]:
    return [one[name] for one in runs if one[name] is not None]


def _behind(measured: Measured, arm: str) -> list[float]:
    """What lies between the last one that was told and the last one that was answered."""
    return [
        one["answered_ms"] - one["told_ms"]
        for one in measured["runs"]
        if one["arm"] == arm and None not in (one["told_ms"], one["answered_ms"])
    ]


def _left_alone(measured: Measured) -> str:
    """Groups in which nothing happens, in words."""
    how, said = measured["how"], []
    for one in measured["alone"]:
        beats, good = sum(one["heartbeats"].values()), one["heartbeats"].get("no error", 0)
        errors = ", ".join(
            f"{count} {name}"
            for name, count in sorted(one["heartbeats"].items())
            if name != "no error"
        )
        said.append(
            f"at a frequency of {one['frequency']} it had {one['generations']} new generations, and of "
            f"{beats} heartbeats {good} were answered without an error"
            + (f" ({errors})" if errors else "")
        )
    return (
        f"- A group in which nothing happens, for {how['sessions']} session timeouts "
        f"({how['sessions'] * how['session'] / 1e3:g} s): {'; '.join(said)}. At 1 the next heartbeat is "
        "due when the session that the last one began is over: so such groups are not in the table.\n"
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
