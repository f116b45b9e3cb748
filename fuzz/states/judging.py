"""What is wrong with a learned machine: steps that the protocol's table does not allow, answers that no valid
request gets, and what two brokers answer differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from barnabas.fuzz.states.alphabet import UNSENT, Alphabet
from barnabas.fuzz.states.conversation import Conversing
from barnabas.fuzz.states.machine import Machine
from barnabas.fuzz.states.walking import Way, walk
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.groups import NONE
from barnabas.specs.registry import NAMES

NEVER: Final = frozenset(("UNKNOWN_SERVER_ERROR", "CORRUPT_MESSAGE", "INVALID_REQUEST"))
"""Errors that no valid request is answered with."""

UNSUPPORTED: Final = "UNSUPPORTED_VERSION"
"""The answer to a request of an API that is not enabled, in a version that is offered."""

_KNOWN: Final = frozenset((UNSENT, *(error.name for error in ERROR_CODES)))


class Wrong(NamedTuple):
    """What is wrong, in words, and the inputs that show it, the last one being what it is about."""

    about: str
    inputs: Way


def judged(alphabet: Alphabet, machine: Machine) -> Iterator[Wrong]:
    """What a machine has that it should not have: each once, by the shortest way there."""
    yield from _never(machine)
    yield from _not_allowed(alphabet, machine)


def switched_off(alphabet: Alphabet, machine: Machine) -> list[str]:
    """The APIs that an alphabet needs, and that are offered but never served: what a broker says where a
    protocol is not enabled."""
    outputs: dict[str, set[str]] = {}
    for one in alphabet.inputs:
        if one.key in alphabet.needs:
            said = {_error(steps[one.name].output) for steps in machine.steps}
            outputs.setdefault(NAMES[one.key], set()).update(said)
    return [name for name, said in outputs.items() if said - {UNSENT} == {UNSUPPORTED}]


def doubts(alphabet: Alphabet, machine: Machine) -> Iterator[Way]:
    """The inputs of what would be wrong: to be tried before the machine is believed."""
    return (wrong.inputs for wrong in judged(alphabet, machine))


def _never(machine: Machine) -> Iterator[Wrong]:
    known: set[tuple[str, str]] = set()
    for access, steps in zip(machine.access, machine.steps, strict=True):
        for name, (output, _) in steps.items():
            error = _error(output)
            if (error in NEVER or error not in _KNOWN) and (name, output) not in known:
                known.add((name, output))
                yield Wrong(f"{machine.broker}: {name}: {output}", (*access, name))


def _not_allowed(alphabet: Alphabet, machine: Machine) -> Iterator[Wrong]:
    """An error that the table does not have changes nothing: the broker refused. What it accepted counts."""
    found: dict[tuple[str, str], Wrong] = {}
    table = alphabet.table

    def behind(state: tuple[int, str], way: Way) -> Iterator[tuple[str, tuple[int, str]]]:
        number, member = state
        for one in alphabet.inputs:
            output, following = machine.steps[number][one.name]
            answer = _error(output)
            after = table.step(member, one.event, answer) if one.event else member
            if after is None and answer == NONE:
                found.setdefault(
                    (member, one.name),
                    Wrong(
                        f"{machine.broker}: {one.name} in state {member} is accepted",
                        (*way, one.name),
                    ),
                )
            yield one.name, (following, after or member)

    walk((0, table.states[0][0]), behind)
    yield from found.values()


def the_same(output: str) -> str:
    """An output as it is."""
    return output


def compared(
    one: Machine, other: Machine, word: Callable[[str], str] = the_same
) -> Iterator[Wrong]:
    """What two answer differently behind the same inputs: each pair of answers to an input once. What is
    behind a difference is not compared. word: of an output what is compared."""
    found: dict[tuple[str, str, str], Wrong] = {}

    def behind(state: tuple[int, int], way: Way) -> Iterator[tuple[str, tuple[int, int]]]:
        for name, (output, following) in one.steps[state[0]].items():
            otherwise, there = other.steps[state[1]][name]
            if word(output) == word(otherwise):
                yield name, (following, there)
                continue
            words = f"{name}: {output} from {one.broker}, {otherwise} from {other.broker}"
            found.setdefault((name, output, otherwise), Wrong(words, (*way, name)))

    walk((0, 0), behind)
    yield from found.values()


def shown(
    wrong: Wrong, conversations: Sequence[Conversing], word: Callable[[str], str] = the_same
) -> bool:
    """Whether two answer the inputs of a difference differently when they are asked once more: what was
    learned may be wrong."""
    outputs = set()
    for one in conversations:
        one.anew()
        outputs.add(word([one.say(name) for name in wrong.inputs][-1]))
        one.close()
    return len(outputs) > 1


def _error(output: str) -> str:
    return output.partition(", ")[0]
