"""The effects of all rules on one frame, taken together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from barnabas.proxy.effects import (
    Aside,
    Break,
    Gather,
    HalfClose,
    HangUp,
    Insert,
    Lose,
    LoseReply,
    Partition,
    Pieces,
    Repeat,
    Schedule,
    Shuffle,
    Silence,
    Stall,
    Wait,
)
from barnabas.proxy.rules.rules import Decision


@dataclass(slots=True)
class MergedEffects:
    """What is to be done with a frame. Of several ways to wait aside the first counts; a loss always does."""

    times: list[Wait | Schedule] = field(default_factory=list)
    """What delays it, in order."""
    chosen: Lose | Shuffle | Aside | None = None
    by: str = ""
    """The rule that has chosen."""
    hang_up: HangUp | None = None
    keep: int | None = None
    """So many of its bytes leave, if not all."""
    gather: Gather | None = None
    gathered_by: str = ""
    """The rule that gathers."""
    half_close: bool = False
    copies: int = 0
    pieces: Pieces | None = None
    reply_lost_by: str = ""
    """The rule that loses its response."""
    inserts: list[Insert] = field(default_factory=list)
    stalls: list[Stall] = field(default_factory=list)
    partitions: list[Partition] = field(default_factory=list)
    silence: Silence | None = None


def merge(decisions: Iterable[Decision]) -> MergedEffects:
    """Take decisions together. What a message becomes, or is answered with, is done elsewhere.

    >>> found = merge([Decision("r", (Wait(5), HangUp()), ())])
    >>> found.times, found.hang_up
    ([Wait(ns=5)], HangUp(forward=False, reset=False))
    """
    found = MergedEffects()
    for decision in decisions:
        for effect in decision.effects:
            match effect:
                case Wait() | Schedule():
                    found.times.append(effect)
                case HangUp():
                    found.hang_up = effect
                case Break():
                    found.hang_up, found.keep = HangUp(forward=True), effect.keep
                case HalfClose():
                    found.half_close = True
                case Gather():
                    found.gather, found.gathered_by = effect, decision.rule
                case Repeat():
                    found.copies += effect.times
                case Pieces():
                    found.pieces = effect
                case Insert():
                    found.inserts.append(effect)
                case Stall():
                    found.stalls.append(effect)
                case Partition():
                    found.partitions.append(effect)
                case Silence():
                    found.silence = effect
                case LoseReply():
                    found.reply_lost_by = decision.rule
                case Lose() | Shuffle() | Aside():
                    if found.chosen is None or isinstance(effect, Lose):
                        found.chosen, found.by = effect, decision.rule
    return found
