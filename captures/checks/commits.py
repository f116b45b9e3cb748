"""Check `commits`: members commit in their current generation, and offsets do not go back repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.checks.facts import GROUP, PLACES, PartitionFacts
from barnabas.captures.checks.finding import (
    MS,
    Check,
    Evidence,
    Finding,
    See,
    Severity,
    duration,
    evidence,
)
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import JOIN_GROUP, OFFSET_COMMIT, TXN_OFFSET_COMMIT

REFUSALS: Final[dict[str, Severity]] = {
    "ILLEGAL_GENERATION": "warning",
    "UNKNOWN_MEMBER_ID": "warning",
    "FENCED_INSTANCE_ID": "warning",
    "FENCED_MEMBER_EPOCH": "warning",
    "STALE_MEMBER_EPOCH": "note",  # the client commits again with its new epoch (KIP-848)
    "REBALANCE_IN_PROGRESS": "note",  # the client commits again once it has joined
}
"""The coordinator's errors for a commit that is too late."""

FENCES: Final = frozenset(REFUSALS) - {"REBALANCE_IN_PROGRESS"}
"""The errors that fence a transaction of a former member (KIP-447)."""

READ_AGAIN: Final = (
    "Records since the last accepted commit are consumed again. Commit with commitSync in "
    "onPartitionsRevoked, before the member rejoins."
)

COMMITS_AGAIN: Final = "The client commits again once it has rejoined, or with its new epoch."

FENCED: Final = (
    "Fencing as designed (KIP-447): the producer aborts the transaction, and the new owner of "
    "the partitions consumes their records again; nothing takes effect twice."
)


BACK: Final = (
    "Records are consumed again from there. An asynchronous commit that is sent again overtakes a later "
    "one: commit in order; or the application seeks back."
)


@dataclass(frozen=True, slots=True)
class Commits:
    """The thresholds for committed offsets that go back."""

    times: int = 3
    """Times that one partition's offset goes back; once or twice may be a seek or a reset ..."""
    within_ms: float = 60_000.0
    """... within this time."""


@dataclass(slots=True)
class _Position:
    offset: int
    evidence: Evidence
    back: tuple[int, ...] = ()
    """When it went back, in ns since the epoch."""


class _Joined(NamedTuple):
    generation: int
    since: int
    evidence: Evidence


def commits(settings: Commits) -> See:
    """Find commits of a stale generation, rejected or (worse) accepted, and offsets that go back."""
    joined: Memory[tuple[str, str], _Joined] = Memory()
    positions: Memory[tuple[str, str, int], _Position] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        if exchange.key == JOIN_GROUP:
            _learn(exchange, joined)
            return
        if exchange.key not in (OFFSET_COMMIT, TXN_OFFSET_COMMIT):
            return
        request, response = GROUP.of(exchange) or (None, None)
        if exchange.key == OFFSET_COMMIT and request and response:
            exchange_evidence = evidence(exchange)
            for partition in PLACES.of(exchange, context) or ():
                yield from _back(
                    exchange_evidence, request["group_id"], partition, positions, settings
                )
        generation = (request or {}).get("generation_id_or_member_epoch", -1)
        if not request or not response or generation < 0:
            return
        joined_member = joined.get((request["group_id"], request["member_id"]))
        is_known = joined_member is not None and exchange.ts >= joined_member.since
        errors = set(map(error_name, response["errors"]))
        if refusal := next((name for name in REFUSALS if name in errors), None):
            yield _refused(exchange, request, refusal, joined_member)
        elif (
            joined_member
            and is_known
            and generation < joined_member.generation
            and "NONE" in errors
        ):
            yield Finding(
                "error",
                f"group {request['group_id']}: the broker accepted a commit of generation "
                f"{generation} from a member that had joined generation {joined_member.generation}",
                "The commit may overwrite one of the current generation: records are consumed "
                "again or skipped.",
                (joined_member.evidence, evidence(exchange)),
                group=request["group_id"],
            )

    return see


def _back(
    commit_evidence: Evidence,
    group: str,
    partition: PartitionFacts,
    positions: Memory[tuple[str, str, int], _Position],
    settings: Commits,
) -> Iterator[Finding]:
    """Find a committed offset that goes back, except in transactions, which may be aborted."""
    offset = partition.offset
    if partition.error != 0 or offset is None or offset < 0:
        return
    key = group, partition.topic, partition.partition
    before = positions.get(key)
    back = () if before is None else before.back
    if before is not None and offset < before.offset:
        since = commit_evidence.ts - settings.within_ms * MS
        back = (*(ts for ts in back if ts > since), commit_evidence.ts)
        if len(back) == settings.times:
            yield Finding(
                "warning",
                f"group {group}: the committed offset of {partition.text} went back {len(back)} times "
                f"within {duration(back[-1] - back[0])}, at last from {before.offset} to {offset}",
                BACK,
                (before.evidence, commit_evidence),
                topic=partition.topic,
                group=group,
            )
            back = ()
    positions[key] = _Position(offset, commit_evidence, back)


def _refused(
    exchange: Exchange, request: dict[str, Any], refusal: str, joined_member: _Joined | None
) -> Finding:
    commit_evidence, generation = evidence(exchange), request["generation_id_or_member_epoch"]
    severity = REFUSALS[refusal]
    advice = COMMITS_AGAIN if severity == "note" else READ_AGAIN
    commit = f"a commit of generation {generation} was"
    if exchange.key == TXN_OFFSET_COMMIT:
        commit = f"a transaction's offsets of generation {generation} were"
        if refusal in FENCES:
            severity, advice = "note", FENCED
    text = f"group {request['group_id']}: {commit} rejected: {refusal}"
    exchanges: tuple[Evidence, ...] = (commit_evidence,)
    if joined_member is not None and joined_member.generation != generation:
        text += f"; the member is in generation {joined_member.generation}"
        exchanges = tuple(sorted((joined_member.evidence, commit_evidence)))
    return Finding(severity, text, advice, exchanges, group=request["group_id"])


def _learn(exchange: Exchange, joined: Memory[tuple[str, str], _Joined]) -> None:
    end, (request, response) = exchange.answered, GROUP.of(exchange) or (None, None)
    if end is not None and request and response and not response["error_code"]:
        member = (request["group_id"], response["member_id"])
        joined[member] = _Joined(response["generation_id"], end, evidence(exchange))


CHECK: Final = Check(
    "commits", Commits(), commits,
    "offsets committed by members of an old generation, or that go back repeatedly",
    "OffsetCommit v1+ and TxnOffsetCommit v3+ (KIP-447), of group members (generation or epoch 0 "
    "or more); KIP-848 epochs as far as the broker rejects them; offsets that go back: OffsetCommit v0+",
    "group",
)  # fmt: skip
