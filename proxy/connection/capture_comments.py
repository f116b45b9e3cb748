"""Comments in the capture on frames that rules decided about, or that left otherwise than they came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from barnabas.proxy.connection.outgoing_frame import OutgoingFrame
from barnabas.proxy.rules.rules import Decision


def decided(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Which rules fired, what they wanted done, and which of them depend on other connections."""
    if not decisions:
        return {}
    comment: dict[str, Any] = {
        "rules": [decision.rule for decision in decisions],
        "what": [text for decision in decisions for text in decision.text],
    }
    depends = [decision.rule for decision in decisions if decision.depends]
    return {**comment, "depends": depends} if depends else comment


def described(
    frame: OutgoingFrame, decisions: Sequence[Decision] = (), left: str = "", note: str = ""
) -> dict[str, Any]:
    """A frame's number, the rules, and how it left if not as it came."""
    comment: dict[str, Any] = {"frame": frame.ordinal}
    if frame.rules:
        comment["rules"] = list(frame.rules)
    comment |= decided(decisions)
    if frame.changed:
        comment["edits"] = list(frame.changed)
    if left:
        comment["left"] = left
    if note:
        comment["note"] = note
    return comment
