"""The members of a group that a draw stands for, as plain data for the programs in all languages.

Members join one after the other. If a draw has a member that leaves, it is the first one, and another member
follows it.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.experiments.clients.draws import Draw
from barnabas.experiments.clients.workloads import Workload

SLOT: Final = "{slot}"
"""In a value of `Workload.settings`: a member's number, from 1, which a successor takes over."""


def members(drawn: Draw, workload: Workload, topic: str) -> list[dict[str, Any]]:
    """Return the members of a workload's group, see `peers/clients/programs/work.py`.

    The second member joins after the first record, the others after equal shares of the records.
    """
    count = drawn.members
    if not count:
        return []
    share = max(drawn.records // (count + 1), 1)
    joins = [0, 1, *(share * number for number in range(1, count))][:count]
    group = [
        {"name": f"reader-{slot}", "after": after, **_traffic(drawn, workload, topic, slot)}
        for slot, after in enumerate(joins, start=1)
    ]
    if drawn.leaves:
        group[0]["leaves"] = share
        successor = {"name": f"reader-{count + 1}", "follows": group[0]["name"]}
        group.append({**successor, **_traffic(drawn, workload, topic, 1)})
    return group


def _traffic(drawn: Draw, workload: Workload, topic: str, slot: int) -> dict[str, Any]:
    """Return what a member does, and its settings."""
    fixed = {
        name: value.replace(SLOT, str(slot)) if isinstance(value, str) else value
        for name, value in workload.settings.items()
    }
    traffic: dict[str, Any] = {"settings": {**drawn.consumer_settings, **fixed}}
    for name in ("delay", "stall", "pauses", "rewinds", "partial"):
        if value := getattr(drawn, name):
            traffic[name] = value
    if workload.pattern:
        traffic["pattern"] = f"^{topic}(-topic-[0-9]+)?$"
    return traffic
