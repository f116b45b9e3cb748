"""What a client's program says at the end of a session (`peers/clients/programs/lines.py`)."""

from __future__ import annotations

from typing import Any

from barnabas.fuzz.targets.clients.alarms import UNSURE


def raised_of(said: dict[str, Any]) -> tuple[str, tuple[tuple[str, object], ...]]:
    """What it says it raised, as text, and the facts that go with it."""
    raised = said.get("raised")
    facts: tuple[tuple[str, object], ...] = (
        ("records", said.get("records", 0)),
        ("delivered", said.get("delivered")),
        ("failed", said.get("failed", [])),
    )
    if raised is None:
        return "", facts
    if raised.get("unsure"):
        facts = (*facts, (UNSURE, True))
    lines = [f"{raised['class']}: {raised['message']}", *(f" {one}" for one in raised["frames"])]
    about = (("bases", raised["bases"]), ("frames", raised["frames"]), ("where", raised["where"]))
    return "\n".join(lines), (*facts, *about)
