"""What is wrong with a client's machine: steps that a member may not take, ids and epochs that are over,
requests behind what ends a client, and ends behind what must not end one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.fuzz.states.clients.alphabets import ClientAlphabet
from barnabas.fuzz.states.clients.steered import STALE
from barnabas.fuzz.states.judging import Wrong
from barnabas.fuzz.states.machine import Machine
from barnabas.fuzz.states.walking import Way, walk


def word(output: str) -> str:
    """What is compared of an output: by which exception a client gives up is its own matter."""
    return output.partition(" ")[0] if output.startswith("raises ") else output


def judged(alphabet: ClientAlphabet, machine: Machine) -> Iterator[Wrong]:
    """What a machine has that it should not have: each once, by the shortest way there."""
    found: dict[tuple[str, ...], Wrong] = {}

    def step(place: _Place, way: Way, name: str, output: str, following: _Place) -> None:
        why = _wrong(alphabet, place.asked, name, output, following)
        if why:
            words = f"{machine.broker}: {output} behind {name} to {place.asked}{why}"
            found.setdefault((place.asked, name, output), Wrong(words, (*way, name)))

    _walked(alphabet, machine, step)
    yield from found.values()


def doubts(alphabet: ClientAlphabet, machine: Machine) -> Iterator[Way]:
    """What is tried before a machine is believed: the inputs of what would be wrong, and each answer to each
    request that waits in a state with another one: who waits for two things is hardly in one state."""
    asked: dict[int, dict[str, Way]] = {}

    def step(place: _Place, way: Way, name: str, output: str, following: _Place) -> None:
        asked.setdefault(place.number, {}).setdefault(place.asked, way)

    _walked(alphabet, machine, step)
    for ways in asked.values():
        if len(ways) > 1:
            yield from ((*way, name) for way in ways.values() for name in alphabet.input_names)
    yield from (wrong.inputs for wrong in judged(alphabet, machine))


class _Place(NamedTuple):
    """A state, what the table says of it, and the event of the request that waits; "" if none does."""

    number: int
    member: str
    asked: str


def _walked(
    alphabet: ClientAlphabet,
    machine: Machine,
    step: Callable[[_Place, Way, str, str, _Place], None],
) -> None:
    """Have each step of a machine looked at: from where, the way there, the input, the output, to where."""
    table = alphabet.table

    def behind(place: _Place, way: Way) -> Iterator[tuple[str, _Place]]:
        for name, (output, number) in machine.steps[place.number].items() if place.asked else ():
            member = (table and table.step(place.member, place.asked, name)) or place.member
            following = _Place(number, member, alphabet.event(output))
            step(place, way, name, output, following)
            yield name, following

    first = table.states[0][0] if table else ""
    walk(_Place(0, first, alphabet.first), behind)


def _wrong(alphabet: ClientAlphabet, asked: str, error: str, output: str, following: _Place) -> str:
    """Why a client may not do that; "" if it may."""
    _, after, event = following
    if any(output.endswith(one) for one in STALE):
        return ": it is over"
    if event and error in alphabet.ends:
        return ": nothing may follow"
    if event and alphabet.table is not None and not alphabet.table.allows(after, event):
        return f": not in state {after}"
    if not event and error in alphabet.mends.get(asked, ()):
        return ": it can go on by itself"
    return ""
