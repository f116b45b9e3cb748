"""`rewrite_owners`: in a generation, the coordinator assigns each partition to one consumer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.finding import Check, Evidence, Finding, NoSettings, See, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.consumer_rewrite.captured_steps import Step, step
from barnabas.specs.groups.table import NONE


@dataclass(slots=True)
class _Generation:
    number: int
    losses: int
    since: int
    """The time from which the first consumer knew it, in ns since the epoch."""
    evidence: Evidence


_Owners = Memory[tuple[str, int, int, str, int], tuple[str, Evidence]]
"""The owner by group, generation, losses, topic and partition."""


def rewrite_owners(_: NoSettings) -> See:
    """Find partitions with two owners, decreasing generations, and accepted commits of other generations."""
    groups: Memory[str, _Generation] = Memory()
    owners: _Owners = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        message = step(exchange)
        if message is None or message.answer != NONE:
            return
        group = message.request["group_id"]
        known = groups.get(group)
        if known is not None and known.losses != exchange.losses:
            known = groups.pop(group, None) and None
        if message.api == "JoinGroup":
            number = message.response["group_generation_id"]
            if known is None or number > known.number:
                known = _Generation(number, exchange.losses, message.end, evidence(exchange))
                groups[group] = known
            if number < known.number:
                if exchange.ts > known.since:
                    yield Finding(
                        "error",
                        f"group {group}: generation {number} came after generation {known.number}",
                        "The coordinator has lost the registry's data, or a former coordinator "
                        "still answers.",
                        (known.evidence, evidence(exchange)),
                    )
                return
            yield from _owned(exchange, message, group, known, owners)
        elif message.api == "OffsetCommit" and known is not None:
            number = message.request["group_generation_id"]
            if number != known.number and exchange.ts > known.since:
                yield Finding(
                    "error",
                    f"group {group}: a commit of generation {number} was accepted in generation "
                    f"{known.number}",
                    "The coordinator must reject older and newer generations with "
                    "IllegalGeneration.",
                    (known.evidence, evidence(exchange)),
                )

    return see


def _owned(
    exchange: Exchange, message: Step, group: str, known: _Generation, owners: _Owners
) -> Iterator[Finding]:
    name = message.response["consumer_id"]
    for topic in message.response["assigned_partitions"]:
        for number in topic["partitions"]:
            owned_partition = (group, known.number, known.losses, topic["topic"], number)
            owner = owners.setdefault(owned_partition, (name, evidence(exchange)))
            if owner[0] != name:
                yield Finding(
                    "error",
                    f"group {group}: {owner[0]} and {name} both own {topic['topic']}-{number} in "
                    f"generation {known.number}",
                    "A generation must give each partition one owner.",
                    (owner[1], evidence(exchange)),
                )


CHECK: Final = Check(
    "rewrite_owners", NoSettings(), rewrite_owners,
    "partitions with two owners, generations that go back, stale commits",
    "the dialect rewrite-0.8.2; groups of which a JoinGroup was captured",
)  # fmt: skip
