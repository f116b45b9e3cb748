"""Inputs of two clients, each with a memory of its own under its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.states.alphabet import Answer, Input, Memory

CLIENTS: Final = ("first", "second")


def begins_with(begins: Callable[[str, str], Memory]) -> Callable[[str], Memory]:
    """Return what both clients know at first. begins: is called with the run's name and the client's."""
    return lambda name: {client: begins(name, client) for client in CLIENTS}


def input_of(alone: Input, event: str, client: str) -> Input:
    """Return a client's input for one of a single client."""

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        return alone.fields(memory[client])

    def heard(memory: Memory, answer: Answer, error: str) -> None:
        alone.heard(memory[client], answer, error)

    def shown(memory: Memory, answer: Answer) -> str:
        return alone.shown(memory[client], answer)

    def wrapped(other: Input | None) -> Input | None:
        return None if other is None else input_of(other, event, client)

    return alone._replace(
        name=f"{client}: {alone.name}",
        fields=fields,
        heard=heard,
        event=event.format(client),
        shown=shown,
        sent_before=wrapped(alone.sent_before),
        sent_after=wrapped(alone.sent_after),
    )


def of_one(alone: Input) -> Input:
    """Return an input that does not depend on the client, sent with the first one's memory."""
    return input_of(alone, alone.event, CLIENTS[0])._replace(name=alone.name)


def of_both(inputs: Sequence[Input], events: Mapping[str, str]) -> tuple[Input, ...]:
    """Return the inputs of both clients, of those with an event in the table of two.

    events: the events, one of `pairs`, by the input's name.
    """
    return tuple(
        input_of(alone, events[alone.name], client)
        for client in CLIENTS
        for alone in inputs
        if alone.name in events
    )
