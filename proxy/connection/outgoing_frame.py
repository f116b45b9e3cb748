"""A whole frame that is to leave, and how it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.writing.masking import UNSOLICITED
from barnabas.proxy.matching.message import Message
from barnabas.proxy.rules.merged_effects import NO_EFFECTS, MergedEffects
from barnabas.proxy.rules.rules import Decision

OVERHEAD: Final = 1 << 10
"""The memory of a waiting frame in addition to its bytes."""


@dataclass(slots=True)
class Halted:
    """The breakpoint at which a frame waits."""

    id: str
    """A unique id, never used again."""
    rule: str
    since: int
    until: int
    """The time at which the frame leaves by itself."""
    decided: bool = False
    ended: bool = False
    """Whether the connection ended before a decision."""


@dataclass(slots=True)
class Delivery:
    """The schedule of a frame's departure, and its progress."""

    not_before: int = 0
    late: bool = False
    accounted: bool = False
    """Whether its exchange has been accounted for."""
    effects: MergedEffects = NO_EFFECTS
    """The merged effects of the rules."""
    gone: int = 0
    """The number of its bytes that have left in pieces; no other bytes may come between them."""
    halted: Halted | None = None
    """The breakpoint at which the frame waits."""

    @property
    def due(self) -> int:
        """Return when the frame may leave, in ns, once it is at the head of its queue."""
        return max(self.not_before, 0 if self.halted is None else self.halted.until)


@dataclass(slots=True, eq=False)
class OutgoingFrame:
    """A frame with its size prefix, and the exchange that it belongs to."""

    data: bytes
    ordinal: int
    """The frame's number among those that arrived in its direction; -1 if the proxy made it."""
    arrived: int
    pending: Pending | None = None
    awaited: bool = True
    """Whether the client waits for a response; False if the request arrived as a Produce with acks=0."""
    answered: bool = True
    """Whether the broker sends a response; False if the request leaves as a Produce with acks=0."""
    message: Message | None = None
    response_body: bytes | None = None
    changed: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    delivery: Delivery = field(default_factory=Delivery)

    @property
    def cost(self) -> int:
        """Return the memory in bytes that the frame takes while it waits."""
        return OVERHEAD + len(self.data)

    @property
    def kind(self) -> tuple[int, int]:
        """Return the API key and version, with the stand-ins of `barnabas.captures.writing.masking`."""
        pending, message = self.pending, self.message
        if pending is None and message is not None:  # of a dialect
            return message.key, message.version
        if pending is None:
            return UNSOLICITED, -1
        return pending.key, pending.version

    def comment(
        self, decisions: Sequence[Decision] = (), departure: str = "", note: str = ""
    ) -> dict[str, Any]:
        """Return the capture's comment on the frame: its number, the rules, how it left."""
        comment: dict[str, Any] = {"frame": self.ordinal}
        if self.rules:
            comment["rules"] = list(self.rules)
        comment |= comment_on(decisions)
        if self.changed:
            comment["edits"] = list(self.changed)
        if departure:
            comment["left"] = departure
        if note:
            comment["note"] = note
        return comment


def comment_on(decisions: Sequence[Decision]) -> dict[str, Any]:
    """Return the capture's comment on decisions: rules, effects, dependence on other connections."""
    if not decisions:
        return {}
    comment: dict[str, Any] = {
        "rules": [decision.rule for decision in decisions],
        "what": [text for decision in decisions for text in decision.text],
    }
    depends = [decision.rule for decision in decisions if decision.depends]
    return {**comment, "depends": depends} if depends else comment
