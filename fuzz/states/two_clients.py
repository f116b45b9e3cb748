"""Inputs of two clients, each with a memory of its own under its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from barnabas.fuzz.states.alphabet import Answer, Input, Memory

CLIENTS: Final = ("first", "second")


def begins_with(begins: Callable[[str, str], Memory]) -> Callable[[str], Memory]:
    """Return what both clients know at first. begins: is called with the run's name and the client's."""
    return lambda name: {client: begins(name, client) for client in CLIENTS}


def inputs_of(alone: Input, client: str) -> Input:
    """Return a client's input for one of a single client, whose event is one of `pairs`."""

    def fields(memory: Memory) -> Mapping[str, Any] | None:
        return alone.fields(memory[client])

    def heard(memory: Memory, answer: Answer, error: str) -> None:
        alone.heard(memory[client], answer, error)

    def shown(memory: Memory, answer: Answer) -> str:
        return alone.shown(memory[client], answer)

    name, event = f"{client}: {alone.name}", alone.event.format(client)
    return alone._replace(name=name, fields=fields, heard=heard, event=event, shown=shown)


def of_both(inputs: Mapping[Input, str]) -> tuple[Input, ...]:
    """Return the inputs of both clients, each with its event in the table of two."""
    return tuple(
        inputs_of(alone._replace(event=event), client)
        for client in CLIENTS
        for alone, event in inputs.items()
    )
