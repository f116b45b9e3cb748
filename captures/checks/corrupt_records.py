"""Check `corrupt_records`: record batches pass the validation of brokers and consumers.

A broker rejects a producer's invalid batch, and a consumer stops at a broker's invalid batch. A batch that is
sent repeatedly is reported once for each connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from barnabas.captures.checks.facts import FLAWS
from barnabas.captures.checks.finding import Check, Finding, NoSettings, See, evidence
from barnabas.captures.checks.flaws import BATCHES, RECORDS, Flaw
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import PRODUCE

SENT: Final = (
    "Look for what encodes the batch, or changes it on its way: brokers refuse it with "
    "CORRUPT_MESSAGE or INVALID_RECORD, and consumers stop at it."
)
REFUSED: Final = (
    "Look into the broker's log for the reason. If it is CORRUPT_MESSAGE, the bytes were changed "
    "on their way; a compacted topic refuses records without a key as INVALID_RECORD."
)
FETCHED: Final = (
    "A consumer stops at it. Compare it with the broker's log segment (kafka-dump-log "
    "--deep-iteration): either that is damaged, or the bytes were changed on their way."
)
UNREAD: Final = (
    "The broker's log segment is damaged: look at its disk, and let a replica that is sound lead."
)


def corrupt_records(_: NoSettings) -> See:
    """Find batches that break the rules, and records that brokers reject as invalid."""
    reported: Memory[tuple[int, int, Flaw], bool] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        for flaw in FLAWS.of(exchange, context) or ():
            key = exchange.connection, exchange.key, flaw
            if key not in reported:
                reported[key] = True
                yield _finding(exchange, flaw)

    return see


def _finding(exchange: Exchange, flaw: Flaw) -> Finding:
    exchange_evidence, partition = (evidence(exchange),), f"{flaw.topic}[{flaw.partition}]"
    if flaw.what is None:
        if exchange.key != PRODUCE:
            return Finding(
                "error",
                f"{partition}: the broker can't read it: {flaw.error}",
                UNREAD,
                exchange_evidence,
                flaw.topic,
            )
        text = f"{partition}: the broker refused records that look sound: {flaw.error}"
        return Finding("warning", text, REFUSED, exchange_evidence, flaw.topic)
    producer = "" if flaw.producer_id is None else f" of producer {flaw.producer_id}"
    if exchange.key == PRODUCE:
        refused = f"; the broker refused it: {flaw.error}" if flaw.error else ""
        text = f"{partition}: the client sent a corrupt batch{producer}: {flaw.what}{refused}"
        return Finding("error", text, SENT, exchange_evidence, flaw.topic)
    at = "" if flaw.offset is None else f" at offset {flaw.offset}"
    text = f"{partition}: the broker sent a corrupt batch{at}{producer}: {flaw.what}"
    return Finding("error", text, FETCHED, exchange_evidence, flaw.topic)


CHECK: Final = Check(
    "corrupt_records", NoSettings(), corrupt_records,
    "record batches that a broker or a consumer refuses: checksums, counts, offsets, codecs",
    "Produce v0+, Fetch v0+ (followers', too) and ShareFetch v0+, magic 0 to 2; the first bad batch of "
    f"each partition in a message, of up to {BATCHES} batches, with up to {RECORDS} records read",
)  # fmt: skip
