"""`fetch_loops`: a consumer does not ask over and over for what is refused each time.

A Fetch waits for records up to max_wait_ms, but an error is answered at once: who does not react to it
asks as fast as the network goes. Brokers that follow a leader are not meant: before 0.9 they do not pause
while the leader of a new partition does not know it yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.captures.checks.facts import PLACES
from barnabas.captures.checks.finding import MS, Check, Evidence, Finding, See, answered, evidence
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.context.memory import Memory
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.error_codes import error_name
from barnabas.specs.keys import FETCH

ADVICE: Final = {
    "OFFSET_OUT_OF_RANGE": "Set auto.offset.reset, or seek to an offset that exists.",
    "NOT_LEADER_OR_FOLLOWER": "Refresh the metadata before the next Fetch, and wait in between "
    "(retry.backoff.ms).",
    "UNKNOWN_TOPIC_OR_PARTITION": "Refresh the metadata before the next Fetch, and wait in "
    "between (retry.backoff.ms).",
    "FETCH_SESSION_ID_NOT_FOUND": "Start a new fetch session with epoch 0 (KIP-227).",
    "INVALID_FETCH_SESSION_EPOCH": "Start a new fetch session with epoch 0 (KIP-227).",
}


@dataclass(frozen=True, slots=True)
class FetchLoops:
    """What a loop is."""

    times: int = 10
    """So many Fetches in a row with the same error."""
    apart_ms: float = 100.0
    """Each sent sooner than that after the response before."""


@dataclass(slots=True)
class _Loop:
    error: int
    end: int
    first: Evidence
    times: int = 1


def fetch_loops(settings: FetchLoops) -> See:
    """Fetches of a connection with the same error of a partition, without a pause."""
    loops: Memory[tuple[int, str, int], _Loop] = Memory()

    def see(exchange: Exchange, context: Context) -> Iterator[Finding]:
        end = answered(exchange)
        if exchange.key != FETCH or end is None:
            return
        for place in PLACES.of(exchange, context) or ():
            error = place.error
            if error is None:
                continue
            key = exchange.connection, place.topic, place.partition
            loop = loops.get(key)
            if not error:
                if loop is not None:
                    del loops[key]
                continue
            hasty = loop and exchange.ts - loop.end < settings.apart_ms * MS
            if loop is None or not hasty or loop.error != error:
                loops[key] = _Loop(error, end, evidence(exchange))
                continue
            loop.times += 1
            loop.end = end
            if loop.times == settings.times:
                text = error_name(error)
                yield Finding(
                    "warning",
                    f"Fetch of {place.text} failed {loop.times} times in a row with {text}",
                    ADVICE.get(text, "Wait before the next Fetch (retry.backoff.ms)."),
                    (loop.first, evidence(exchange)),
                )

    return see


CHECK: Final = Check(
    "fetch_loops", FetchLoops(), fetch_loops,
    "Fetch requests repeated without backoff that fail with the same error",
    "Fetch v0+, by partition; errors of the whole request since v7 (fetch sessions, KIP-227)",
)  # fmt: skip
