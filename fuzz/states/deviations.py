"""Deviations of a learned machine from the protocol, and differences of two machines.

A deviation is a step that the protocol's table does not allow, or a response that no valid request gets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.states.alphabet import UNSENT, Alphabet
from barnabas.fuzz.states.conversation import Learnable
from barnabas.fuzz.states.machine import InputPath, Machine, walk
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.groups import NONE
from barnabas.specs.registry import NAMES

NEVER: Final = frozenset(("UNKNOWN_SERVER_ERROR", "CORRUPT_MESSAGE", "INVALID_REQUEST"))
"""Errors that no valid request gets."""

UNSUPPORTED: Final = "UNSUPPORTED_VERSION"
"""The error of an API that is offered but disabled."""

AFTER: Final = "after a deviation"
"""The caption of a state that only a deviation leads to."""

_KNOWN: Final = frozenset((UNSENT, *(error.name for error in ERROR_CODES)))


class Deviation(NamedTuple):
    """A deviation: a description, and the inputs that show it; the last one deviates.

    cause: what differences of several inputs have in common; "" for other deviations.
    """

    description: str
    inputs: InputPath
    cause: str = ""


def deviations_of(alphabet: Alphabet, machine: Machine) -> Iterator[Deviation]:
    """Yield the deviations of a machine, each once, by its shortest path."""
    yield from _never(machine)
    yield from _not_allowed(alphabet, machine)


def disabled_apis(alphabet: Alphabet, machine: Machine) -> list[str]:
    """Return the needed APIs that are offered but never served: the protocol is disabled."""
    outputs: dict[str, set[str]] = {}
    for given_input in alphabet.inputs:
        if given_input.key in alphabet.needs:
            errors = {_error(steps[given_input.name].output) for steps in machine.steps}
            outputs.setdefault(NAMES[given_input.key], set()).update(errors)
    return [name for name, errors in outputs.items() if errors - {UNSENT} == {UNSUPPORTED}]


def doubtful_inputs(alphabet: Alphabet, machine: Machine) -> Iterator[InputPath]:
    """Yield the inputs of deviations, which are tried before the machine is trusted."""
    return (wrong.inputs for wrong in deviations_of(alphabet, machine))


def _never(machine: Machine) -> Iterator[Deviation]:
    reported: set[tuple[str, str]] = set()
    for access, steps in zip(machine.access, machine.steps, strict=True):
        for name, (output, _) in steps.items():
            error = _error(output)
            if (error in NEVER or error not in _KNOWN) and (name, output) not in reported:
                reported.add((name, output))
                yield Deviation(f"{machine.broker}: {name}: {output}", (*access, name))


def captions(alphabet: Alphabet, machine: Machine) -> list[list[str]]:
    """Return lines that describe each state: its states in the table, and what the broker describes."""
    names: dict[int, list[str]] = {}
    for number, member in _walked(alphabet, machine):
        names.setdefault(number, []).append(member)
    lines = [[" or ".join(names.get(number, [AFTER]))] for number, _ in enumerate(machine.access)]
    for steps, caption in zip(machine.steps, lines, strict=True):
        if alphabet.describes in steps:
            output = steps[alphabet.describes].output.removeprefix(f"{NONE}, ")
            caption += output.split("; ")
    return lines


def _walked(alphabet: Alphabet, machine: Machine) -> dict[tuple[int, str], InputPath]:
    """Return the pairs of the machine's and the table's states that occur together, with shortest paths.

    An error that the table lacks changes nothing: the broker refused. What follows an accepted step that the
    table lacks is not judged: no table tells where it leads.
    """
    table = alphabet.table

    def following(state: tuple[int, str], _: InputPath) -> Iterator[tuple[str, tuple[int, str]]]:
        number, member = state
        for given_input in alphabet.inputs:
            output, after = machine.steps[number][given_input.name]
            error = _error(output)
            step = given_input.event and table.step(member, given_input.event, error)
            if step is not None or error != NONE:
                yield given_input.name, (after, step or member)

    return walk((0, table.states[0][0]), following)


def _not_allowed(alphabet: Alphabet, machine: Machine) -> Iterator[Deviation]:
    """Yield accepted steps that the table does not have."""
    reported: set[tuple[str, str]] = set()
    for (number, member), path in _walked(alphabet, machine).items():
        for given_input in alphabet.inputs:
            name, event = given_input.name, given_input.event
            accepted = _error(machine.steps[number][name].output) == NONE
            if not event or not accepted or alphabet.table.step(member, event, NONE) is not None:
                continue
            if (member, name) not in reported:
                reported.add((member, name))
                description = f"{machine.broker}: {name} in state {member} is accepted"
                yield Deviation(description, (*path, name))


def the_same(output: str) -> str:
    """Return an output unchanged."""
    return output


def differences_of(
    first: Machine, second: Machine, word: Callable[[str], str] = the_same
) -> Iterator[Deviation]:
    """Yield the different outputs of two machines after equal inputs, each pair of outputs of an input once.

    What follows a difference is not compared. word: returns the part of an output that is compared.
    """
    deviations: dict[tuple[str, str, str], Deviation] = {}

    def behind(state: tuple[int, int], path: InputPath) -> Iterator[tuple[str, tuple[int, int]]]:
        for name, (output, following) in first.steps[state[0]].items():
            otherwise, there = second.steps[state[1]][name]
            if word(output) == word(otherwise):
                yield name, (following, there)
                continue
            cause = f"{output} from {first.broker}, {otherwise} from {second.broker}"
            difference = Deviation(f"{name}: {cause}", (*path, name), cause)
            deviations.setdefault((name, output, otherwise), difference)

    walk((0, 0), behind)
    yield from deviations.values()


def by_cause(deviations: Iterable[Deviation]) -> dict[str, list[Deviation]]:
    """Return deviations by their cause, the one with the shortest inputs first."""
    groups: dict[str, list[Deviation]] = {}
    for deviation in deviations:
        groups.setdefault(deviation.cause or deviation.description, []).append(deviation)
    return {
        cause: sorted(members, key=lambda each: len(each.inputs))
        for cause, members in groups.items()
    }


def still_differ(
    wrong: Deviation, conversations: Sequence[Learnable], word: Callable[[str], str] = the_same
) -> bool:
    """Return whether two systems still differ when the inputs are sent again: learning may err."""
    outputs = set()
    for conversation in conversations:
        conversation.restart()
        outputs.add(word([conversation.say(name) for name in wrong.inputs][-1]))
        conversation.close()
    return len(outputs) > 1


def _error(output: str) -> str:
    return output.partition(", ")[0]
