"""Preparation of a broker before the first session: the topic exists, and coordinators are ready."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.fuzz.targets.prober import Prober, Unanswered
from barnabas.specs.keys import FIND_COORDINATOR, METADATA

PAUSE: Final = 0.05


def prepare(prober: Prober, offered: Mapping[int, tuple[int, int]], timeout: float = 15.0) -> str:
    """Create the topic by naming it, and wait for its leader and for coordinators.

    There is a coordinator for groups and one for transactions.

    Returns:
        What is still missing after `timeout` seconds, as a message; "" if nothing is.
    """
    deadline = time.monotonic() + timeout
    requirements: list[tuple[str, Callable[[], bool]]] = [("leader", partial(_led, prober))]
    low, high = offered.get(FIND_COORDINATOR, (0, 0))
    if FIND_COORDINATOR in offered and low <= 2:
        version = min(high, 2)
        requirements += [
            (f"coordinator of kind {kind}", partial(_coordinated, prober, version, kind))
            for kind in ((0, 1) if version else (0,))
        ]
    for requirement, is_met in requirements:
        while not is_met():
            if time.monotonic() > deadline:
                return f"{TOPIC} still has no {requirement}"
            time.sleep(PAUSE)
    return ""


def _led(prober: Prober) -> bool:
    """Return whether the topic has a leader. Metadata v1 has the fields, and all brokers support it."""
    answer = _ask(prober, METADATA, 1, {"topics": [{"name": TOPIC}]})
    return any(
        not topic["error_code"] and all(not part["error_code"] for part in topic["partitions"])
        for topic in answer.get("topics", ())
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
