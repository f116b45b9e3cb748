"""A coordinator of the consumer rewrite dies in each of the five phases of a rebalance (document 000).

It dies between two of its actions: what stands before is done, nothing behind it. Which action that is
makes the phase.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from typing import Any, Final

from barnabas.designs import experimenting
from barnabas.designs.brokers.listener import Address, Send
from barnabas.designs.consumer_rewrite.experiments import consumers
from barnabas.designs.consumer_rewrite.peers.actions import BrokerAction, Write
from barnabas.designs.consumer_rewrite.peers.client import Client
from barnabas.designs.consumer_rewrite.peers.group_entry import decode, path_of
from barnabas.designs.consumer_rewrite.peers.server import Cluster
from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.wire import CODES
from barnabas.designs.diagram import design_steps
from barnabas.designs.exchange import DialectExchange
from barnabas.experiments import plots
from barnabas.experiments.diagram import sequence
from barnabas.experiments.experiment import Bench, Between, Experiment, Measured
from barnabas.specs.dialect_frames import decode_frame
from barnabas.specs.dialects import Dialect, dialect
from barnabas.specs.malformed import Malformed

SESSION_MS: Final = 1_500
MEMBERS, PARTITIONS = 3, 6
ROUNDS: Final = 20
SHORT: Final = {"session": 500, "rounds": 1}
BACKOFF_MS: Final = 20

REWRITE: Final[Dialect] = dialect("rewrite-0.8.2")


def told(action: BrokerAction, _: int) -> bool:
    """Whether it is a HeartbeatResponse with IllegalGeneration: nothing else is as short."""
    code = CODES["IllegalGeneration"].to_bytes(2)
    return isinstance(action, Send) and len(action.data) == 10 and action.data[8:] == code


def joined(action: BrokerAction, _: int) -> bool:
    """Whether it is a JoinGroupResponse without an error."""
    if not isinstance(action, Send):
        return False
    try:
        body = decode_frame(REWRITE, action.data[4:], "response", api="JoinGroup").body
    except Malformed:
        return False
    return bool(body["consumer_id"])


def writes(action: BrokerAction, before: int) -> bool:
    """Whether it writes a new generation to the registry."""
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
    """All phases in rounds, each with a group of its own, on the same brokers."""
    how: dict[str, Any] = {
        "session": SESSION_MS,
        "rounds": ROUNDS,
        **(SHORT if bench.short else {}),
    }
    runs, proxy = asyncio.run(_rounds(bench, how))
    exchanges = experimenting.seen(proxy, "rewrite-0.8.2")
    pictures: dict[str, Any] = {}
    for one in runs:
        died, group = one.pop("died"), one.pop("group")
        own = [each for each in exchanges if each.request.get("group_id") == group]
        one |= _seen(own, died)
        pictures.setdefault(one["phase"], design_steps(_around(own, died)))
    return {"how": how, "runs": runs, "drawn": pictures}


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[dict[str, Any]], Between]:
    trap = _Trap()
    async with Cluster(2, topics={}, watch=trap.watch) as cluster:

        async def each(
            address: Address, number: int, phase: str, kind: Kind, ordinal: int, _: str
        ) -> dict[str, Any]:
            group = f"{phase[0]}-{number}"
            trap.kind, trap.left = kind, ordinal
            clients = _clients(address, group, how["session"])
            async with consumers.polling(clients):
                found = await _one(cluster, trap, clients, group)
            return {"phase": phase, "round": number, "group": group, **found}

        return await experimenting.rounds(
            bench, cluster.bootstrap, "rewrite-0.8.2", how["rounds"], PHASES, each
        )


class _Trap:
    """Lets a coordinator die right before one of its actions."""

    def __init__(self) -> None:
        self.node = self.before = 0
        self.kind: Kind = told
        self.left = 0
        self.died = 0
        """When, in ns; 0: it has not."""

    def watch(self, node: int, action: BrokerAction) -> None:
        if node == self.node and self.kind(action, self.before):
            self.left -= 1
            if not self.left:
                self.died = time.time_ns()
                raise asyncio.CancelledError


def _clients(address: Address, group: str, session_ms: int) -> list[Client]:
    found = []
    for name in "abc"[:MEMBERS]:
        settings = ConsumerSettings(
            group,
            (address,),
            topics=(f"topic-{group}",),
            client_id=name,
            session_timeout_ms=session_ms,
            heartbeat_frequency=10,
            backoff_ms=BACKOFF_MS,
        )
        found.append(Client(settings))
        found[-1].start()
    return found


async def _one(cluster: Cluster, trap: _Trap, clients: list[Client], group: str) -> dict[str, Any]:
    """One death, and what the consumers saw of it; in the end all brokers are there again."""
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
    trap.died, trap.before, trap.node = 0, before, node
    await cluster.partitions(topic, PARTITIONS + 1)
    await experimenting.until(lambda: bool(trap.died), f"the death of {group}'s coordinator")
    trap.node = 0
    begun = time.perf_counter()
    await cluster.stop(node)
    await experimenting.until(
        lambda: consumers.shared(clients, PARTITIONS + 1), f"group {group} after the death"
    )
    seconds = time.perf_counter() - begun
    offsets = {at: offset for one in clients for at, offset in one.partitions.items()}
    await cluster.start(node, address)
    new = {generation for one in clients for generation, _ in one.history if generation > before}
    return {
        "died": trap.died,
        "ms": round(seconds * 1e3, 1),
        "generations": [one - before for one in sorted(new)],
        "positions_kept": sum(offsets.get(at) == offset for at, offset in wanted.items()),
    }


def _around(exchanges: list[DialectExchange], died: int) -> list[DialectExchange]:
    """What was under way when the coordinator died, and what followed until all had joined."""
    joined_at = max((one.end or 0 for one in exchanges if one.api == "JoinGroup"), default=0)
    apis = ("ConsumerMetadata", "Heartbeat", "JoinGroup")
    return [
        one
        for one in exchanges
        if one.api in apis and (one.end or died) >= died - 30_000_000 and one.ts <= joined_at
    ]


def _seen(exchanges: list[DialectExchange], died: int) -> dict[str, Any]:
    """What the capture shows: errors after the death, and owners that two consumers shared."""
    errors: dict[str, int] = {}
    for one in exchanges:
        if one.error and one.ts >= died:
            errors[f"{one.api} {one.error}"] = errors.get(f"{one.api} {one.error}", 0) + 1
    owners: dict[tuple[int, int], set[str]] = {}
    for one in exchanges:
        if one.api == "JoinGroup" and one.error == "" and one.response is not None:
            for topic in one.response["assigned_partitions"]:
                for number in topic["partitions"]:
                    key = one.response["group_generation_id"], number
                    owners.setdefault(key, set()).add(one.client)
    return {"errors": errors, "owned_twice": sum(len(names) > 1 for names in owners.values())}


def write(measured: Measured) -> str:
    """The result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    lines = [
        "| phase | it died | until all own all (ms): median, slowest | generations given after it "
        "| what consumers were told |",
        "|---|---|---|---|---|",
    ]
    for phase, _, _, when in PHASES:
        own = [one for one in runs if one["phase"] == phase]
        taken = [one["ms"] for one in own]
        generations: dict[str, int] = {}
        errors: dict[str, int] = {}
        for one in own:
            said = ", ".join(f"+{number}" for number in one["generations"])
            generations[said] = generations.get(said, 0) + 1
            for error, count in one["errors"].items():
                errors[error] = errors.get(error, 0) + count
        lines.append(
            f"| {phase} | {when} | {statistics.median(taken):.0f}, {max(taken):.0f} | "
            + "; ".join(f"{said} ({count})" for said, count in sorted(generations.items()))
            + " | "
            + (
                ", ".join(f"{name}: {count}" for name, count in sorted(errors.items()))
                or "no error"
            )
            + " |"
        )
    kept = sum(one["positions_kept"] for one in runs)
    twice = sum(one["owned_twice"] for one in runs)
    fourth = [one for one in runs if one["phase"].startswith("4")]
    old = sum(one["errors"].get("Heartbeat IllegalGeneration", 0) for one in fourth)
    pictures = "\n\n".join(
        f"### {phase}\n\n```mermaid\n{sequence(steps)}\n```"
        for phase, steps in measured["drawn"].items()
    )
    return (
        f"Peers of the draft rewrite-0.8.2: two brokers, {MEMBERS} consumers (session timeout "
        f"{how['session']} ms, 10 heartbeats in it), {PARTITIONS} partitions; one more partition is "
        f"the reason of the rebalance. {how['rounds']} rounds. Generations count from the one before; "
        "what consumers were told, in all rounds together, is from the captures, after the death.\n\n"
        + "\n".join(lines)
        + "\n\n## What follows\n\n"
        f"- In {len(runs)} of {len(runs)} runs the group came to own all partitions again, without "
        f"anybody's help; {twice} partitions had two owners in one generation.\n"
        f"- {kept} of {PARTITIONS * len(runs)} committed offsets were where their new owner began.\n"
        "- Phases 1 to 3 leave nothing behind: the new coordinator compares the partitions with those of "
        "the last decision and begins anew, so one generation follows. From the write on (4, 5) the "
        "generation is used up, whoever heard of it, and another follows.\n"
        f"- Of phase 4 the document expects heartbeats of the older generation, which get "
        f"IllegalGeneration. There were {old} in {len(fourth)} runs: a consumer whose JoinGroup is "
        "unanswered sends that again, as the document has it of phase 5.\n\n"
        f"## One run of each, as captured\n\n{pictures}\n"
    )


def drawn(measured: Measured) -> dict[str, str]:
    """How long the group was without its partitions."""
    groups = {
        f"{phase}, {when}": [one["ms"] for one in measured["runs"] if one["phase"] == phase]
        for phase, _, _, when in PHASES
    }
    short = {name.split(",")[0]: own for name, own in groups.items()}
    return {"recovery": plots.dots("From the death until all own all", "ms", short)}


EXPERIMENT: Final = Experiment(
    "How does a group of the consumer rewrite recover if its coordinator dies in a phase of a "
    "rebalance?",
    (),
    run,
    write,
    drawn,
)
