"""The effects of all rules on one frame, taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.proxy import effects
from barnabas.proxy.rules.rules import Decision


@dataclass(slots=True)
class MergedEffects:
    """What is to be done with a frame. Of several ways to wait the first counts; a loss always does."""

    times: list[effects.Wait | effects.Schedule] = field(default_factory=list)
    """What delays it, in order."""
    chosen: effects.Lose | effects.Shuffle | effects.Aside | effects.Halt | None = None
    by: str = ""
    """The rule that has chosen."""
    hang_up: effects.HangUp | None = None
    keep: int | None = None
    """So many of its bytes leave, if not all."""
    gather: effects.Gather | None = None
    gathered_by: str = ""
    """The rule that gathers."""
    half_close: bool = False
    copies: int = 0
    pieces: effects.Pieces | None = None
    reply_lost_by: str = ""
    """The rule that loses its response."""
    inserts: list[effects.Insert] = field(default_factory=list)
    stalls: list[effects.Stall] = field(default_factory=list)
    partitions: list[effects.Partition] = field(default_factory=list)
    silence: effects.Silence | None = None


def merge(decisions: Iterable[Decision]) -> MergedEffects:
    """Take decisions together. What a message becomes, or is answered with, is done elsewhere.

    >>> found = merge([Decision("r", (effects.Wait(5), effects.HangUp()), ())])
    >>> found.times, found.hang_up
    ([Wait(ns=5)], HangUp(forward=False, reset=False))
    """
    found = MergedEffects()
    for decision in decisions:
        for effect in decision.effects:
            match effect:
                case effects.Wait() | effects.Schedule():
                    found.times.append(effect)
                case effects.HangUp():
                    found.hang_up = effect
                case effects.Break():
                    found.hang_up, found.keep = effects.HangUp(forward=True), effect.keep
                case effects.HalfClose():
                    found.half_close = True
                case effects.Gather():
                    found.gather, found.gathered_by = effect, decision.rule
                case effects.Repeat():
                    found.copies += effect.times
                case effects.Pieces():
                    found.pieces = effect
                case effects.Insert():
                    found.inserts.append(effect)
                case effects.Stall():
                    found.stalls.append(effect)
                case effects.Partition():
                    found.partitions.append(effect)
                case effects.Silence():
                    found.silence = effect
                case effects.LoseReply():
                    found.reply_lost_by = decision.rule
                case effects.Lose() | effects.Shuffle() | effects.Aside() | effects.Halt():
                    if found.chosen is None or isinstance(effect, effects.Lose):
                        found.chosen, found.by = effect, decision.rule
    return found
