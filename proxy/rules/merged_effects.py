"""The effects of all rules on one frame, taken together."""

from __future__ import annotations

from collections.abc import Iterable
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
"""Effects that all count, and the field that lists them."""

_REPLACED: Final = {
    effects.HangUp: "hang_up",
    effects.Gather: "gather",
    effects.Pieces: "pieces",
    effects.Silence: "silence",
    effects.HalfClose: "half_close",
}
"""Effects of which the last one counts, and its field."""


@dataclass(slots=True, eq=False)
class MergedEffects:
    """What is to be done with a frame."""

    times: list[effects.Wait | effects.Schedule] = field(default_factory=list)
    """What delays it, in order."""
    chosen: effects.Lose | effects.Shuffle | effects.Aside | effects.Halt | None = None
    """Of several ways to wait the first one; a loss in any case."""
    by: str = ""
    """The rule that has chosen."""
    hang_up: effects.HangUp | None = None
    keep: int | None = None
    """How many of its bytes leave; None: all."""
    gather: effects.Gather | None = None
    gathered_by: str = ""
    """The rule that gathers."""
    half_close: effects.HalfClose | None = None
    copies: int = 0
    """How many times more it leaves."""
    pieces: effects.Pieces | None = None
    reply_lost_by: str = ""
    """The rule that loses its response."""
    inserts: list[effects.Insert] = field(default_factory=list)
    stalls: list[effects.Stall] = field(default_factory=list)
    partitions: list[effects.Partition] = field(default_factory=list)
    silence: effects.Silence | None = None


NO_EFFECTS: Final = MergedEffects()
"""Of a frame that no rule decided about."""


def merge(decisions: Iterable[Decision]) -> MergedEffects:
    """Merge the effects of all decisions about a frame.

    `Become` and `Answer` are not in the result: the message has changed or been answered before.

    >>> merged = merge([Decision("r", (effects.Wait(5), effects.HangUp()), ())])
    >>> merged.times, merged.hang_up
    ([Wait(ns=5)], HangUp(forward=False, reset=False))
    """
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
