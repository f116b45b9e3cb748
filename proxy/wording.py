"""What a rule decided, in words: for the log and the comments in a capture."""

from __future__ import annotations

from proxy.effects import Aside, Effect, HangUp, Lose, Shuffle, Wait
from proxy.units import show_duration


def describe(effect: Effect) -> str:
    """An effect in a few words.

    >>> describe(Wait(213_400_000)), describe(Aside(5_000_000_000, passing=2))
    ('delay 213 ms', 'hold until 2 more have passed, at most 5 s')
    """
    match effect:
        case Wait(ns):
            return f"delay {show_duration(ns)}"
        case Aside(at_most, passing=int(passing)):
            return f"hold until {passing} more have passed, at most {show_duration(at_most)}"
        case Aside(at_most, until=None):
            return f"hold {show_duration(at_most)}"
        case Aside(at_most, until=until, same=same) if until is not None:
            whose = "anywhere" if same == "any" else f"same {same}"
            return f"hold until {until.describe()} ({whose}), at most {show_duration(at_most)}"
        case Shuffle(order, at_most):
            return f"shuffle {len(order)}, at most {show_duration(at_most)}"
        case Lose(selective):
            return "drop this exchange" if selective else "drop"
        case HangUp(forward):
            return "close behind this message" if forward else "close"
    raise AssertionError(effect)
