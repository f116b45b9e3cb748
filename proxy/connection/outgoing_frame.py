"""A whole frame that is to leave: what it is, and how it leaves."""

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
"""What a frame that waits costs beside its bytes: a small one is mostly its entry here."""


@dataclass(slots=True)
class Halted:
    """A breakpoint at which a frame waits."""

    id: str
    """Never used for another one."""
    rule: str
    since: int
    until: int
    """When it leaves by itself."""
    decided: bool = False
    ended: bool = False
    """The connection ended first: nobody waits for a decision any longer."""


@dataclass(slots=True)
class Delivery:
    """How a frame leaves, and how far that has come."""

    not_before: int = 0
    late: bool = False
    accounted: bool = False
    """Its exchange is accounted for already."""
    effects: MergedEffects = NO_EFFECTS
    """What rules want done with it."""
    gone: int = 0
    """How many of its bytes have left, in pieces: nothing may come in between."""
    halted: Halted | None = None
    """Somebody is to decide about it."""

    @property
    def due(self) -> int:
        """When it may leave, once it is its turn."""
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
    """Whether the client waits for a response: not if the request came as a Produce with acks=0."""
    answered: bool = True
    """Whether a response comes: not if the request leaves as a Produce with acks=0."""
    message: Message | None = None
    response_body: bytes | None = None
    changed: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    delivery: Delivery = field(default_factory=Delivery)

    @property
    def cost(self) -> int:
        """Bytes of memory that it takes while it waits."""
        return OVERHEAD + len(self.data)

    @property
    def kind(self) -> tuple[int, int]:
        """Key and version of what is in it, as `barnabas.captures.writing.masking` has them."""
        pending, message = self.pending, self.message
        if pending is None and message is not None:  # of a dialect
            return message.key, message.version
        if pending is None:
            return UNSOLICITED, -1
        return pending.key, pending.version

    def comment(
        self, decisions: Sequence[Decision] = (), left: str = "", note: str = ""
    ) -> dict[str, Any]:
        """Return the capture's comment on the frame: its number, the rules, how it left if not unchanged."""
        comment: dict[str, Any] = {"frame": self.ordinal}
        if self.rules:
            comment["rules"] = list(self.rules)
        comment |= comment_on(decisions)
        if self.changed:
            comment["edits"] = list(self.changed)
        if left:
            comment["left"] = left
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
