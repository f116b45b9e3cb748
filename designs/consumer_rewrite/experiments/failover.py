"""A coordinator of the consumer rewrite dies in each of the five phases of a rebalance (document 000).

It dies between two of its actions, which determines the phase: earlier actions are done, later ones are not.
It belongs to document 000, whose peers run here; no Kafka takes part.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, Final

from barnabas.designs import experiment_support
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


def refuses_heartbeat(action: BrokerAction, _: int) -> bool:
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
    ("1: notified", refuses_heartbeat, 1, "before it told anybody"),
    ("2: telling", refuses_heartbeat, 2, "when it had told one consumer"),
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
    for each_run in runs:
        died, group = each_run.pop("died"), each_run.pop("group")
        group_exchanges = [each for each in exchanges if each.request.get("group_id") == group]
        each_run |= _consequences(group_exchanges, died)
        pictures.setdefault(each_run["phase"], design_steps(_around(group_exchanges, died)))
    return {"how": how, "runs": runs, "drawn": pictures}


async def _rounds(bench: Bench, how: dict[str, Any]) -> tuple[list[Run], list[DialectExchange]]:
    trap = experiment_support.Trap()
    async with Cluster(2, topics={}, watch=trap.watch) as cluster:

        async def each(
            address: Address, number: int, phase: str, kind: Kind, ordinal: int, _: str
        ) -> Run:
            group = f"{phase[0]}-{number}"
            settings = {"topics": (f"topic-{group}",), "heartbeat_frequency": 10}
            clients = consumers.consumers(
                address, group, "abc"[:MEMBERS], session_timeout_ms=how["session"], **settings
            )
            async with consumers.polling(clients):
                times = await _run_group(cluster, trap, clients, group, kind, ordinal)
            return {"phase": phase, "round": number, "group": group, **times}

        return await experiment_support.rounds(
            bench, cluster.bootstrap, "rewrite-0.8.2", how["rounds"], PHASES, each
        )


async def _run_group(
    cluster: Cluster,
    trap: experiment_support.Trap,
    clients: list[Client],
    group: str,
    kind: Kind,
    ordinal: int,
) -> Run:
    """Stop the coordinator, observe how the consumers recover, and start the broker again."""
    topic = f"topic-{group}"
    await cluster.partitions(topic, PARTITIONS)
    await experiment_support.until(lambda: consumers.shared(clients, PARTITIONS), f"group {group}")
    before = clients[0].generation
    expected = {(topic, number): 100 + number for number in range(PARTITIONS)}
    for client in clients:
        for at in client.partitions:
            client.consumed(at, expected[at])
        client.commit()

    def committed() -> bool:
        entry = cluster.registry.read(path_of(group))
        offsets = {} if entry is None else decode(entry.data).offsets
        return {at: client.offset for at, client in offsets.items()} == expected

    await experiment_support.until(committed, f"what {group} commits")
    node = cluster.coordinator(group)
    assert node is not None  # noqa: S101 - it has just answered
    address = cluster.servers[node].listener.address
    trap.arm(node, lambda action: kind(action, before), ordinal)
    await cluster.partitions(topic, PARTITIONS + 1)
    await asyncio.wait_for(trap.sprung.wait(), experiment_support.PATIENCE)
    died = trap.died_at
    await cluster.stop(node)
    await experiment_support.until(
        lambda: consumers.shared(clients, PARTITIONS + 1), f"group {group} after the death"
    )
    ms = (time.time_ns() - died) / 1e6
    offsets = {at: offset for client in clients for at, offset in client.partitions.items()}
    await cluster.start(node, address)
    new = {
        generation for client in clients for generation, _ in client.history if generation > before
    }
    return {
        "died": died,
        "ms": round(ms, 1),
        "generations": [client - before for client in sorted(new)],
        "positions_kept": sum(offsets.get(at) == offset for at, offset in expected.items()),
    }


def _around(exchanges: list[DialectExchange], died: int) -> list[DialectExchange]:
    """Return the exchanges in flight when the coordinator died, and later ones until all had joined."""
    joined_at = max(
        (exchange.end or 0 for exchange in exchanges if exchange.api == "JoinGroup"), default=0
    )
    apis = ("ConsumerMetadata", "Heartbeat", "JoinGroup")
    return [
        exchange
        for exchange in exchanges
        if exchange.api in apis
        and (exchange.end or died) >= died - 30_000_000
        and exchange.ts <= joined_at
    ]


def _consequences(exchanges: list[DialectExchange], died: int) -> Run:
    """Return the errors after the death, and how many partitions had two owners."""
    errors = Counter(
        f"{exchange.api} {exchange.error}"
        for exchange in exchanges
        if exchange.error and exchange.ts >= died
    )
    owners: dict[tuple[int, int], set[str]] = defaultdict(set)
    for exchange in exchanges:
        if exchange.api == "JoinGroup" and exchange.error == "" and exchange.response is not None:
            for topic in exchange.response["assigned_partitions"]:
                for number in topic["partitions"]:
                    owners[exchange.response["group_generation_id"], number].add(exchange.client)
    owned_twice = sum(len(names) > 1 for names in owners.values())
    return {"errors": dict(errors), "owned_twice": owned_twice}


def write(measured: Measured) -> str:
    """Write the result as Markdown."""
    how, runs = measured["how"], measured["runs"]
    fourth = select(runs, phase=PHASES[3][0])
    old = sum(each_run["errors"].get("Heartbeat IllegalGeneration", 0) for each_run in fourth)
    return paragraphs(
        f"Peers of the draft rewrite-0.8.2: two brokers, {MEMBERS} consumers (session timeout "
        f"{how['session']} ms, 10 heartbeats in it), {PARTITIONS} partitions; one more partition is "
        f"the reason of the rebalance. {how['rounds']} rounds. Generations count from the one before; "
        "what consumers were told, in all rounds together, is from the captures, after the death.",
        table_of(runs, {
            "phase": "phase",
            "it died": lambda cell: next(when for name, *_, when in PHASES if name == cell[0]["phase"]),
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


def _generations(cell_runs: list[Run]) -> str:
    counts_by_steps = Counter(
        ", ".join(f"+{number}" for number in run["generations"]) for run in cell_runs
    )
    return "; ".join(f"{steps} ({count})" for steps, count in sorted(counts_by_steps.items()))


def _errors(cell_runs: list[Run]) -> str:
    return counts(sum((Counter(run["errors"]) for run in cell_runs), Counter()), "no error")


def drawn(measured: Measured) -> dict[str, str]:
    """Plot how long the group was without its partitions."""
    groups = {phase: figures(select(measured["runs"], phase=phase), "ms") for phase, *_ in PHASES}
    return {"recovery": plots.dots("From the death until all own all", "ms", groups)}


EXPERIMENT: Final = Experiment(QUESTION, (), run, write, drawn)
