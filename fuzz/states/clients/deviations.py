"""Deviations of a client's machine from the protocol.

These are steps that a member may not take, outdated ids and epochs, requests after an error that ends a
client, and ends after an error that must not end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from barnabas.fuzz.states.clients.alphabets import ClientAlphabet
from barnabas.fuzz.states.clients.steered_broker import STALE
from barnabas.fuzz.states.deviations import Deviation
from barnabas.fuzz.states.machine import InputPath, Machine, walk


def word(output: str) -> str:
    """Return the part of an output that is compared; the class of the exception that ends a client is not."""
    return output.partition(" ")[0] if output.startswith("raises ") else output


def deviations_of(alphabet: ClientAlphabet, machine: Machine) -> Iterator[Deviation]:
    """Yield the deviations of a machine, each once, by its shortest path."""
    deviations: dict[tuple[str, ...], Deviation] = {}

    def step(
        position: _Position, path: InputPath, name: str, output: str, following: _Position
    ) -> None:
        reason = _wrong(alphabet, position.event, name, output, following)
        if reason:
            words = f"{machine.broker}: {output} after {name} to {position.event}{reason}"
            deviations.setdefault((position.event, name, output), Deviation(words, (*path, name)))

    _walked(alphabet, machine, step)
    yield from deviations.values()


def doubtful_inputs(alphabet: ClientAlphabet, machine: Machine) -> Iterator[InputPath]:
    """Yield inputs that are tried before a machine is trusted.

    They are those of deviations, and each response to each request that is pending in a state with another
    one: a client that waits for two responses is hardly in one state.
    """
    paths_by_event: dict[int, dict[str, InputPath]] = {}

    def step(
        position: _Position, path: InputPath, name: str, output: str, following: _Position
    ) -> None:
        paths_by_event.setdefault(position.number, {}).setdefault(position.event, path)

    _walked(alphabet, machine, step)
    for paths in paths_by_event.values():
        if len(paths) > 1:
            yield from (
                (*path_to_event, name)
                for path_to_event in paths.values()
                for name in alphabet.input_names
            )
    yield from (wrong.inputs for wrong in deviations_of(alphabet, machine))


class _Position(NamedTuple):
    """A state, the table's state of the member, and the pending request's event; "" for none."""

    number: int
    member: str
    event: str


def _walked(
    alphabet: ClientAlphabet,
    machine: Machine,
    step: Callable[[_Position, InputPath, str, str, _Position], None],
) -> None:
    """Visit each step of a machine: position, path, input, output, next position."""
    table = alphabet.table

    def behind(position: _Position, path: InputPath) -> Iterator[tuple[str, _Position]]:
        for name, (output, number) in (
            machine.steps[position.number].items() if position.event else ()
        ):
            member = (
                table and table.step(position.member, position.event, name)
            ) or position.member
            following = _Position(number, member, alphabet.event(output))
            step(position, path, name, output, following)
            yield name, following

    first = table.states[0][0] if table else ""
    walk(_Position(0, first, alphabet.first), behind)


def _wrong(
    alphabet: ClientAlphabet, event_before: str, error: str, output: str, following: _Position
) -> str:
    """Return why a client may not do that; "" if it may."""
    _, after, event = following
    if any(output.endswith(suffix) for suffix in STALE):
        return ": it is over"
    if event and error in alphabet.ends:
        return ": nothing may follow"
    if event and alphabet.table is not None and not alphabet.table.allows(after, event):
        return f": not in state {after}"
    if not event and error in alphabet.mends.get(event_before, ()):
        return ": it can go on by itself"
    return ""
