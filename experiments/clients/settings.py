"""What a client asked with, as its requests have it: its defaults, where nobody set anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from barnabas.captures.kafka.exchange import Exchange

ACKS: Final = {0: "0", 1: "1", -1: "all"}

Body = Mapping[str, Any]


def _produce(body: Body) -> dict[str, str]:
    return {
        "acks": ACKS.get(body["acks"], str(body["acks"])),
        "timeout": _seconds(body["timeout_ms"]),
    }


def _init(body: Body) -> dict[str, str]:
    if body.get("transactional_id") is None:
        return {"idempotence": "yes"}
    return {"transaction timeout": _seconds(body["transaction_timeout_ms"])}


def _fetch(body: Body) -> dict[str, str]:
    found = {"max wait": _seconds(body["max_wait_ms"])}
    if body.get("isolation_level"):
        found["isolation"] = "read_committed"
    return found


def _join(body: Body) -> dict[str, str]:
    found = {
        "session": _seconds(body["session_timeout_ms"]),
        "assignors": " ".join(each["name"] for each in body["protocols"]),
    }
    if "rebalance_timeout_ms" in body:
        found["rebalance"] = _seconds(body["rebalance_timeout_ms"])
    return found


def _heartbeat(body: Body) -> dict[str, str]:
    timeout = body["rebalance_timeout_ms"]
    return {} if timeout < 0 else {"rebalance": _seconds(timeout)}


def _share_fetch(body: Body) -> dict[str, str]:
    return {"max wait": _seconds(body["max_wait_ms"])}


ASKED: Final[dict[str, Callable[[Body], dict[str, str]]]] = {
    "InitProducerId": _init,
    "Produce": _produce,
    "JoinGroup": _join,
    "ConsumerGroupHeartbeat": _heartbeat,
    "Fetch": _fetch,
    "ShareFetch": _share_fetch,
}
"""The requests that say what a client is set to."""


def settings_of(exchanges: Iterable[Exchange]) -> str:
    """In words, in the order in which they were first said; of several values of one the first.

    "idempotence yes, acks all, timeout 30 s".
    """
    found: dict[str, str] = {}
    for exchange in exchanges:
        told = ASKED.get(exchange.api)
        if told is not None and exchange.request is not None:
            for name, value in told(exchange.request).items():
                found.setdefault(name, value)
    return ", ".join(f"{name} {value}" for name, value in found.items())


def _seconds(milliseconds: int) -> str:
    """
    >>> _seconds(500), _seconds(45000)
    ('0.5 s', '45 s')
    """
    return f"{milliseconds / 1000:g} s"
