"""The settings of a client, as its requests show them: its defaults, unless something else is configured."""

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
    settings = {"max wait": _seconds(body["max_wait_ms"])}
    if body.get("isolation_level"):
        settings["isolation"] = "read_committed"
    return settings


def _join(body: Body) -> dict[str, str]:
    settings = {
        "session": _seconds(body["session_timeout_ms"]),
        "assignors": " ".join(each["name"] for each in body["protocols"]),
    }
    if "rebalance_timeout_ms" in body:
        settings["rebalance"] = _seconds(body["rebalance_timeout_ms"])
    return settings


def _heartbeat(body: Body) -> dict[str, str]:
    timeout = body["rebalance_timeout_ms"]
    return {} if timeout < 0 else {"rebalance": _seconds(timeout)}


def _share_fetch(body: Body) -> dict[str, str]:
    return {"max wait": _seconds(body["max_wait_ms"])}


SETTINGS_BY_API: Final[dict[str, Callable[[Body], dict[str, str]]]] = {
    "InitProducerId": _init,
    "Produce": _produce,
    "JoinGroup": _join,
    "ConsumerGroupHeartbeat": _heartbeat,
    "Fetch": _fetch,
    "ShareFetch": _share_fetch,
}
"""The settings in each request."""


def settings_of(exchanges: Iterable[Exchange]) -> str:
    """Describe the settings in requests, in the order of their first occurrence.

    The first value of a setting counts: "idempotence yes, acks all, timeout 30 s".
    """
    settings: dict[str, str] = {}
    for exchange in exchanges:
        settings_in = SETTINGS_BY_API.get(exchange.api)
        if settings_in is not None and exchange.request is not None:
            for name, value in settings_in(exchange.request).items():
                settings.setdefault(name, value)
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _seconds(milliseconds: int) -> str:
    """Return a time in seconds.

    >>> _seconds(500), _seconds(45000)
    ('0.5 s', '45 s')
    """
    return f"{milliseconds / 1000:g} s"
