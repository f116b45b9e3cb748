"""What a rule decided, in words: for the log and the comments in a capture."""

from __future__ import annotations

from barnabas.plural import plural
from barnabas.proxy import effects
from barnabas.proxy.matching.units import show_duration


def describe(effect: effects.Effect) -> str:
    """An effect in a few words.

    >>> describe(effects.Wait(213_400_000)), describe(effects.Aside(5_000_000_000, passing=2))
    ('delay 213 ms', 'hold until 2 more have passed, at most 5 s')
    """
    match effect:
        case effects.Wait(ns):
            return f"delay {show_duration(ns)}"
        case effects.Aside(at_most, until, same, passing, control=control):
            whose = "anywhere" if same == "any" else f"same {same}"
            if control:
                what = "until released"
            elif passing is not None:
                where = "" if until is None else f" ({whose})"
                what = f"until {passing} more have passed{where}"
            elif until is not None:
                what = f"until {until.describe()} ({whose})"
            else:
                return f"hold {show_duration(at_most)}"
            return f"hold {what}, at most {show_duration(at_most)}"
        case effects.Halt(at_most):
            return f"breakpoint, at most {show_duration(at_most)}"
        case effects.Shuffle(order, at_most, scope=scope):
            among = f" of {scope}" if scope else ""
            return f"shuffle {len(order)}{among}, at most {show_duration(at_most)}"
        case effects.Gather(size, at_most):
            return f"gather {size}, at most {show_duration(at_most)}"
        case effects.Lose(selective):
            return "drop (this exchange only)" if selective else "drop"
        case effects.HangUp(forward, reset):
            end = "reset" if reset else "close"
            return f"{end} after this message" if forward else end
        case effects.Break(keep):
            return f"truncate after {plural(keep, 'byte')}"
        case effects.HalfClose():
            return "half-close after this message"
        case effects.Become(what=what) | effects.Schedule(what=what):
            return what
        case effects.Answer(body):
            return f"answer with {plural(len(body), 'byte')}"
        case effects.LoseReply():
            return "lose the response"
        case effects.Repeat(times):
            return f"repeat {plural(times, 'time')}"
        case effects.Insert(direction, frame):
            return f"inject a {direction} of {plural(len(frame), 'byte')}"
        case effects.Pieces(size, every):
            return f"slice into pieces of {plural(size, 'byte')}, {show_duration(every)} apart"
        case effects.Stall(direction, ns):
            return f"stop reading {direction}s for {show_duration(ns)}"
        case effects.Partition(ns, clients, brokers, ways):
            who = " or ".join(clients or ("all clients",))
            where = " and ".join(map(str, sorted(brokers))) if brokers else "all"
            way = "" if len(ways) == 2 else f", {ways[0]}s only"
            return f"isolate {who} from brokers {where} for {show_duration(ns)}{way}"
        case effects.Reject(how, at_most):
            return f"refuse the connection ({how})" + (
                f" for {show_duration(at_most)}" if how == "hang" else ""
            )
        case effects.Silence(at_most):
            return f"blackhole for {show_duration(at_most)}"
    raise AssertionError(effect)
