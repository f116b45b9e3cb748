"""A coordinator of the consumer rewrite dies in each of the five phases of a rebalance (document 000).

It dies between two of its actions: what stands before is done, nothing behind it. Which action that is
makes the phase. It belongs to document 000, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.brokers.listener import Address, Send
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction, Write
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.wire import CODES
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.designs.results import plots
from barnabas.designs.results.columns import median_and_most, table_of
from barnabas.designs.results.markdown import counts, paragraphs, sequences
from barnabas.designs.results.runs import Run, figures, select
from barnabas.experiments.experiment import Bench, Experiment, Measured
from barnabas.specs.dialect_frames import decode_frame
from barnabas.specs.dialects import Dialect, dialect
from barnabas.specs.malformed import Malformed

QUESTION: Final = (
    "How does a group of the consumer rewrite recover if its coordinator dies in a phase of a "
    "rebalance?"
)
SESSION_MS: Final = 1_500
MEMBERS, PARTITIONS = 3, 6
ROUNDS: Final = 20
SHORT: Final = {"session": 500, "rounds": 1}

REWRITE: Final[Dialect] = dialect("rewrite-0.8.2")


def told(action: BrokerAction, _: int) -> bool:
    """Check for a HeartbeatResponse with IllegalGeneration: no other message is as short."""
    code = CODES["IllegalGeneration"].to_bytes(2)
    return isinstance(action, Send) and len(action.data) == 10 and action.data[8:] == code


def joined(action: BrokerAction, _: int) -> bool:
    """Check for a JoinGroupResponse without an error."""
    if not isinstance(action, Send):
        return False
    try:
        body = decode_frame(REWRITE, action.data[4:], "response", api="JoinGroup").body
    except Malformed:
        return False
    return bool(body["consumer_id"])


def writes(action: BrokerAction, before: int) -> bool:
    """Check for the write of a new generation to the registry."""
    return isinstance(action, Write) and action.generation > before


Kind = Callable[[BrokerAction, int], bool]
"""An action, and the generation before the rebalance."""
PHASES: Final[tuple[tuple[str, Kind, int, str], ...]] = (
    ("1: notified", told, 1, "before it told anybody"),
    ("2: telling", told, 2, "when it had told one consumer"),
    ("3: joining", writes, 1, "when all had joined, before the write"),
    ("4: decided", joined, 1, "behind the write, before any answer"),
    ("5: answered", joined, 2, "when one consumer had its answer"),
)
"""(name, an action, its number, in words): it dies right before that one."""


def run(bench: Bench) -> Measured:
    """Run all phases in rounds, each with a group of its own, on the same brokers."""
    how = bench.settings(SHORT, session=SESSION_MS, rounds=ROUNDS)
    runs, exchanges = asyncio.run(_rounds(bench, how))
    pictures: dict[str, Any] = {}
    for one in runs:
        died, group = one.pop("died"), one.pop("group")
        own = [each for each in exchanges if each.request.get("group_id") == group]
        one |= _seen(own, died)
        pictures.setdefault(one["phase"], design_steps(_around(own, died)))
    return {"how": how, "runs": runs, "drawn": pictures}


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    trap = experimenting.Trap()
    async with Cluster(2, topics={}, watch=trap.watch) as cluster:

        async def each(
            address: Address, number: int, phase: str, kind: Kind, ordinal: int, _: str
        ) -> Run:
            group = f"{phase[0]}-{number}"
            about = {"topics": (f"topic-{group}",), "heartbeat_frequency": 10}
            clients = consumers.consumers(
                address, group, "abc"[:MEMBERS], session_timeout_ms=how["session"], **about
            )
            async with consumers.polling(clients):
                found = await _one(cluster, trap, clients, group, kind, ordinal)
            return {"phase": phase, "round": number, "group": group, **found}

        return await experimenting.rounds(
            bench, cluster.bootstrap, "rewrite-0.8.2", how["rounds"], PHASES, each
        )


async def _one(
    cluster: Cluster,
    trap: experimenting.Trap,
    clients: list[Client],
    group: str,
    kind: Kind,
    ordinal: int,
) -> Run:
    """Stop the coordinator, see how the consumers recover, and start the broker again."""
    topic = f"topic-{group}"
    await cluster.partitions(topic, PARTITIONS)
    await experimenting.until(lambda: consumers.shared(clients, PARTITIONS), f"group {group}")
    before = clients[0].generation
    wanted = {(topic, number): 100 + number for number in range(PARTITIONS)}
    for one in clients:
        for at in one.partitions:
            one.consumed(at, wanted[at])
        one.commit()

    def committed() -> bool:
        entry = cluster.registry.read(path_of(group))
        offsets = {} if entry is None else decode(entry.data).offsets
        return {at: one.offset for at, one in offsets.items()} == wanted

    await experimenting.until(committed, f"what {group} commits")
    node = cluster.coordinator(group)
    assert node is not None  # noqa: S101 - it has just answered
    address = cluster.servers[node].listener.address
    trap.arm(node, lambda action: kind(action, before), ordinal)
    await cluster.partitions(topic, PARTITIONS + 1)
    await asyncio.wait_for(trap.sprung.wait(), experimenting.PATIENCE)
    died = trap.died_at
    await cluster.stop(node)
    await experimenting.until(
        lambda: consumers.shared(clients, PARTITIONS + 1), f"group {group} after the death"
    )
    ms = (time.time_ns() - died) / 1e6
    offsets = {at: offset for one in clients for at, offset in one.partitions.items()}
    await cluster.start(node, address)
    new = {generation for one in clients for generation, _ in one.history if generation > before}
    return {
        "died": died,
        "ms": round(ms, 1),
        "generations": [one - before for one in sorted(new)],
        "positions_kept": sum(offsets.get(at) == offset for at, offset in wanted.items()),
    }


def _around(exchanges: list[DialectExchange], died: int) -> list[DialectExchange]:
    """Return the exchanges in flight when the coordinator died, and later ones until all had joined."""
    joined_at = max((one.end or 0 for one in exchanges if one.api == "JoinGroup"), default=0)
    apis = ("ConsumerMetadata", "Heartbeat", "JoinGroup")
    return [
        one
        for one in exchanges
        if one.api in apis and (one.end or died) >= died - 30_000_000 and one.ts <= joined_at
    ]


def _seen(exchanges: list[DialectExchange], died: int) -> Run:
    """Return the errors after the death, and how many partitions had two owners."""
    errors = Counter(f"{one.api} {one.error}" for one in exchanges if one.error and one.ts >= died)
    owners: dict[tuple[int, int], set[str]] = defaultdict(set)
    for one in exchanges:
        if one.api == "JoinGroup" and one.error == "" and one.response is not None:
            for topic in one.response["assigned_partitions"]:
                for number in topic["partitions"]:
                    owners[one.response["group_generation_id"], number].add(one.client)
    owned_twice = sum(len(names) > 1 for names in owners.values())
    return {"errors": dict(errors), "owned_twice": owned_twice}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    fourth = select(runs, phase=PHASES[3][0])
    old = sum(one["errors"].get("Heartbeat IllegalGeneration", 0) for one in fourth)
    return paragraphs(
        f"Peers of the draft rewrite-0.8.2: two brokers, {MEMBERS} consumers (session timeout "
        f"{how['session']} ms, 10 heartbeats in it), {PARTITIONS} partitions; one more partition is "
        f"the reason of the rebalance. {how['rounds']} rounds. Generations count from the one before; "
        "what consumers were told, in all rounds together, is from the captures, after the death.",
        table_of(runs, {
            "phase": "phase",
            "it died": lambda own: next(when for name, *_, when in PHASES if name == own[0]["phase"]),
            "until all own all (ms): median, slowest": median_and_most("ms"),
            "generations given after it": _generations,
            "what consumers were told": _errors,
        }),
        "## What follows",
        f"- In {len(runs)} of {len(runs)} runs the group came to own all partitions again, without "
        f"anybody's help; {sum(figures(runs, 'owned_twice'))} partitions had two owners in one generation.\n"
        f"- {sum(figures(runs, 'positions_kept'))} of {PARTITIONS * len(runs)} committed offsets were where "
        "their new owner began.\n"
        "- Phases 1 to 3 leave nothing behind: the new coordinator compares the partitions with those of "
        "the last decision and begins anew, so one generation follows. From the write on (4, 5) the "
        "generation is used up, whoever heard of it, and another follows.\n"
        f"- Of phase 4 the document expects heartbeats of the older generation, which get "
        f"IllegalGeneration. There were {old} in {len(fourth)} runs: a consumer whose JoinGroup is "
        "unanswered sends that again, as the document has it of phase 5.",
        "## One run of each, as captured",
        sequences(measured["drawn"]),
    )  # fmt: skip


def _generations(own: list[Run]) -> str:
    given = Counter(", ".join(f"+{number}" for number in one["generations"]) for one in own)
    return "; ".join(f"{said} ({count})" for said, count in sorted(given.items()))


def _errors(own: list[Run]) -> str:
    return counts(sum((Counter(one["errors"]) for one in own), Counter()), "no error")


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how long the group was without its partitions."""
    groups = {phase: figures(select(measured["runs"], phase=phase), "ms") for phase, *_ in PHASES}
    return {"recovery": plots.dots("From the death until all own all", "ms", groups)}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
