"""Creates the topic and waits for coordinators, before the first session."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.targets.probing import Prober, Unanswered
from barnabas.specs.keys import FIND_COORDINATOR, METADATA

PAUSE: Final = 0.05


def prepare(prober: Prober, offered: Mapping[int, tuple[int, int]], patience: float = 15.0) -> str:
    """Make the topic, by naming it, and wait until it has leader and groups and transactions have a
    coordinator. What is still missing after so many seconds, in words; "" if nothing is."""
    deadline = time.monotonic() + patience
    wanted: list[tuple[str, Callable[[], bool]]] = [("leader", partial(_led, prober))]
    low, high = offered.get(FIND_COORDINATOR, (0, 0))
    if FIND_COORDINATOR in offered and low <= 2:
        version = min(high, 2)
        wanted += [
            (f"coordinator of kind {kind}", partial(_coordinated, prober, version, kind))
            for kind in ((0, 1) if version else (0,))
        ]
    for what, there in wanted:
        while not there():
            if time.monotonic() > deadline:
                return f"{TOPIC} still has no {what}"
            time.sleep(PAUSE)
    return ""


def _led(prober: Prober) -> bool:
    """Metadata v1 has what is asked here, and all brokers know it."""
    answer = _ask(prober, METADATA, 1, {"topics": [{"name": TOPIC}]})
    return any(
        not one["error_code"] and all(not part["error_code"] for part in one["partitions"])
        for one in answer.get("topics", ())
    )


def _coordinated(prober: Prober, version: int, kind: int) -> bool:
    body: dict[str, Any] = {"key": "fuzz-group"}
    if version:
        body["key_type"] = kind
    answer = _ask(prober, FIND_COORDINATOR, version, body)
    return bool(answer) and not answer["error_code"]


def _ask(prober: Prober, key: int, version: int, body: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        return prober.ask(key, version, body)
    except Unanswered:
        return {}
