"""Merges the effects of all rules on one frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from barnabas.proxy import effects
from barnabas.proxy.rules.rules import Decision

_APPENDED: Final = {
    effects.Wait: "times",
    effects.Schedule: "times",
    effects.Insert: "inserts",
    effects.Stall: "stalls",
    effects.Partition: "partitions",
}
"""Effects that add up, and the fields that list them."""

_REPLACED: Final = {
    effects.HangUp: "hang_up",
    effects.Gather: "gather",
    effects.Pieces: "pieces",
    effects.Silence: "silence",
    effects.HalfClose: "half_close",
}
"""Effects of which the last one applies, and their fields."""


@dataclass(slots=True, eq=False)
class MergedEffects:
    """The merged effects of all rules on one frame."""

    times: list[effects.Wait | effects.Schedule] = field(default_factory=list)
    """The delays, in order."""
    chosen: effects.Lose | effects.Shuffle | effects.Aside | effects.Halt | None = None
    """The first way to wait; or the loss, if there is one."""
    by: str = ""
    """The rule of `chosen`."""
    hang_up: effects.HangUp | None = None
    keep: int | None = None
    """The number of bytes that leave; None for all."""
    gather: effects.Gather | None = None
    gathered_by: str = ""
    """The rule of `gather`."""
    half_close: effects.HalfClose | None = None
    copies: int = 0
    """The number of repetitions."""
    pieces: effects.Pieces | None = None
    reply_lost_by: str = ""
    """The rule that loses the response."""
    inserts: list[effects.Insert] = field(default_factory=list)
    stalls: list[effects.Stall] = field(default_factory=list)
    partitions: list[effects.Partition] = field(default_factory=list)
    silence: effects.Silence | None = None


NO_EFFECTS: Final = MergedEffects()
"""The merged effects on a frame that no rule fired on."""


def merge(decisions: Sequence[Decision]) -> MergedEffects:
    """Merge the effects of all decisions about a frame.

    `Become`, `Answer` and `Amend` are not in the result: the message has changed or been answered before, and
    the response is changed when it arrives.

    >>> merged = merge([Decision("r", (effects.Wait(5), effects.HangUp()), ())])
    >>> merged.times, merged.hang_up
    ([Wait(ns=5)], HangUp(forward=False, reset=False))
    """
    if not decisions:
        return NO_EFFECTS
    merged = MergedEffects()
    for decision in decisions:
        for effect in decision.effects:
            if name := _APPENDED.get(type(effect)):
                getattr(merged, name).append(effect)
            elif name := _REPLACED.get(type(effect)):
                setattr(merged, name, effect)
            else:
                _choose(merged, effect, decision.rule)
            if isinstance(effect, effects.Gather):
                merged.gathered_by = decision.rule
    return merged


def _choose(merged: MergedEffects, effect: effects.Effect, rule: str) -> None:
    match effect:
        case effects.Break():
            merged.hang_up, merged.keep = effects.HangUp(forward=True), effect.keep
        case effects.Repeat():
            merged.copies += effect.times
        case effects.LoseReply():
            merged.reply_lost_by = rule
        case effects.Lose() | effects.Shuffle() | effects.Aside() | effects.Halt():
            if merged.chosen is None or isinstance(effect, effects.Lose):
                merged.chosen, merged.by = effect, rule
