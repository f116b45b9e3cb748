"""What a frame costs more if there are rules that do not match it: the connection alone, no sockets.

Each set of rules is asked about the same exchanges in interleaved rounds; the least time of all rounds
counts, since everything else on the machine only adds to it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from rich.table import Table

from bench import messages
from bench.load import frame
from bench.table import plain_table
from tests.proxy.playbook import Actor, Stage

COUNT: Final = 200
"""Exchanges of a round."""

FEW: Final = 20
"""Exchanges that are not measured."""

TEN: Final = 10

HEADER: Final = {
    "another API": "{api: JoinGroup}",
    "another version": "{api: [Produce, Fetch], version: 3}",
    "another client": "{client_id: 'other-%d-*'}",
    "another size": "{size: {at_least: 64MiB}}",
    "another broker": "{broker: 9}",
}
"""Ten rules on the header that do not match, by what they are about."""

HOLD: Final = "{hold: {until: {api: SyncGroup}}}"

WHERE: Final = {
    "where: a field in front (acks)": ("Produce, direction: request", "acks == 5"),
    "where: a field behind (responses)": ("Produce, direction: response", "throttle_time_ms == 5"),
    "where: inside an array": ("Produce, direction: request", "topic_data[?name == 'other']"),
}
"""One rule with a condition that does not hold."""


@dataclass(slots=True)
class Way:
    """A set of rules, and the least that an exchange took with it."""

    name: str
    rules: str
    seconds: dict[bool, float] = field(default_factory=lambda: {False: math.inf, True: math.inf})
    """With the log off and on, for a frame."""


def ways() -> list[Way]:
    """Return the compared scenarios, the one without rules first."""
    results = [Way("no rule", "")]
    faults = [(name, match, "{delay: 1s}") for name, match in HEADER.items()]
    for name, match, do in (*faults, ("another API, to hold", "{api: JoinGroup}", HOLD)):
        rules = (
            f"  - {{name: r{n}, match: {match % n if '%' in match else match}, do: {do}}}\n"
            for n in range(TEN)
        )
        results.append(Way(f"{TEN} rules on {name}", "version: 1\nrules:\n" + "".join(rules)))
    for name, (api, condition) in WHERE.items():
        rule = f'{{name: r, match: {{api: {api}}}, where: "{condition}", do: {{delay: 1s}}}}'
        results.append(Way(name, f"{{version: 1, rules: [{rule}]}}"))
    return results


def exchanges() -> tuple[list[memoryview], list[memoryview]]:
    """Produce requests of 16 KiB and their responses."""
    request, answered = messages.produce(16 << 10), messages.produced("orders")
    return (
        [memoryview(bytearray(frame("request", 0, 9, i, request))) for i in range(COUNT)],
        [memoryview(bytearray(frame("response", 0, 9, i, answered))) for i in range(COUNT)],
    )


def measure(rounds: int, progress: Callable[[str], None]) -> list[Way]:
    """All ways, on the fast path and on the careful one that the log takes."""
    results = ways()
    frames = exchanges()
    for observed in (False, True):
        actors = [Stage(contestant.rules, observed=observed).actor() for contestant in results]
        for number in range(rounds):
            progress(f"cost of rules: round {number + 1} of {rounds}")
            pairs = list(zip(results, actors, strict=True))
            turn = number % len(pairs)  # who comes behind whom should not matter
            for contestant, actor in pairs[turn:] + pairs[:turn]:
                once(actor, *(some[:FEW] for some in frames))  # what the one before left cold
                took = once(actor, *frames) / (2 * COUNT)
                contestant.seconds[observed] = min(contestant.seconds[observed], took)
    return results


def once(actor: Actor, asked: list[memoryview], answered: list[memoryview]) -> float:
    """CPU seconds that all these exchanges take."""
    receive, now = actor.connection.receive, actor.stage.now
    begun = time.thread_time()
    for request, response in zip(asked, answered, strict=True):
        receive("request", request, now)
        receive("response", response, now)
    return time.thread_time() - begun


def table(results: list[Way]) -> Table:
    """Tabulate the first line absolutely, the others by their additional cost."""
    caption = "requests of 16 KiB and their responses, one a chunk; + is what the rules add"
    shown = plain_table("rules that do not match: µs a frame", caption)
    for name in ("", "log off", "log on"):
        shown.add_column(name, justify="right" if name else "left", no_wrap=True)
    first = results[0].seconds
    for contestant in results:
        added = {way_: took - first[way_] for way_, took in contestant.seconds.items()}
        figures = contestant.seconds if contestant is results[0] else added
        sign = "" if contestant is results[0] else "+"
        shown.add_row(contestant.name, *(f"{figures[on] * 1e6:{sign}.2f}" for on in (False, True)))
    return shown
