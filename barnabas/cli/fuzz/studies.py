"""The brokers and clients whose states are learned.

Brokers are observed by their responses to requests, clients by their requests after responses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final, NamedTuple, TypeVar

from barnabas.cli.console.output import Output
from barnabas.cli.fuzz.targets import target as make_target
from barnabas.fuzz.errors import Misuse
from barnabas.fuzz.states.alphabet import Alphabet
from barnabas.fuzz.states.clients.alphabets import CLIENT_ALPHABETS
from barnabas.fuzz.states.clients.conversation import ClientConversation
from barnabas.fuzz.states.conversation import Conversation, InputAlphabet, Learnable
from barnabas.fuzz.states.deviations import (
    Deviation,
    captions,
    deviations_of,
    disabled_apis,
    doubtful_inputs,
    the_same,
)
from barnabas.fuzz.states.machine import InputPath, Machine
from barnabas.fuzz.states.registry import ALPHABETS
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.clients.registry import library
from barnabas.fuzz.targets.registry import sides
from barnabas.nearest import choices
from barnabas.peers.clients.client import Client
from barnabas.peers.clients.errors import UnknownClientError
from barnabas.trouble import Trouble

CLIENT: Final = "client:"
BROKERS_WALKS: Final = 20
CLIENTS_WALKS: Final = 3
"""The default number of random walks from each state; a client needs a second for each."""
BROKERS_LENGTH: Final = 8
CLIENTS_LENGTH: Final = 4
"""The number of inputs of a walk."""


class Subject(NamedTuple):
    """A broker or a client. begin: Starts a conversation; its argument is called for each request."""

    name: str
    begin: Callable[[Callable[[], None]], Learnable]


class Study(NamedTuple):
    """An alphabet of one subject or of two, and how their machines are judged.

    Attributes:
        doubted: Returns walks that confirm a learned machine.
        word: Returns the part of an output that is compared.
        switched_off: Returns the APIs that are offered but never served.
        captions: Returns lines that describe each state of a machine, by its number; none if there are none.
        missing: The APIs that the alphabet needs and that are not offered; then nothing is learned.
    """

    alphabet: InputAlphabet
    subjects: Sequence[Subject]
    doubted: Callable[[Machine], Iterable[InputPath]]
    judge: Callable[[Machine], Iterable[Deviation]]
    source: str
    walks: int
    length: int
    word: Callable[[str], str]
    switched_off: Callable[[Machine], Sequence[str]]
    captions: Callable[[Machine], Sequence[Sequence[str]]]
    missing: Sequence[str] = ()


def studies(
    target: str, names: Sequence[str], owned: bool, stack: ExitStack, output: Output
) -> Iterator[Study]:
    """Yield the studies for the target and the alphabets of the command line. Raises Trouble, CannotRun."""
    named = sides(target)
    if len(named) > 2:
        raise Trouble(f"{target}: at most two can be compared")
    of_clients = [name.startswith(CLIENT) for name in named]
    if any(of_clients) and not all(of_clients):
        raise Trouble(f"{target}: a client can't be compared with a broker")
    if all(of_clients):
        return _of_clients([_client(name) for name in named], names, stack, output)
    return _of_brokers(target, [_broker(name, owned) for name in named], names, stack, output)


def _of_brokers(
    target: str,
    running: Sequence[BrokerTarget],
    names: Sequence[str],
    stack: ExitStack,
    output: Output,
) -> Iterator[Study]:
    alphabets = _chosen(ALPHABETS, names, "brokers", CLIENT_ALPHABETS)
    output.note(f"starting {target}")
    brokers = [stack.enter_context(broker) for broker in running]
    offered = _common([broker.prober.offered() for broker in brokers])
    run = f"barnabas-states-{time.time_ns()}"
    for whole in alphabets:
        alphabet, missing = whole.within(offered), whole.missing(offered)
        if alphabet is None:
            yield _study_of_brokers(whole, [], missing)
            continue
        subjects = [
            Subject(
                broker.name,
                lambda sent, broker=broker, alphabet=alphabet: Conversation(  # type: ignore[misc]
                    broker.prober, alphabet, offered, run, sent=sent
                ),
            )
            for broker in brokers
        ]
        yield _study_of_brokers(alphabet, subjects)


def _study_of_brokers(
    alphabet: Alphabet, subjects: Sequence[Subject], missing: Sequence[str] = ()
) -> Study:
    return Study(
        alphabet,
        subjects,
        partial(doubtful_inputs, alphabet),
        partial(deviations_of, alphabet),
        alphabet.table.source,
        BROKERS_WALKS,
        BROKERS_LENGTH,
        the_same,
        partial(disabled_apis, alphabet),
        partial(captions, alphabet),
        missing,
    )


def _of_clients(
    clients: Sequence[Client], names: Sequence[str], stack: ExitStack, output: Output
) -> Iterator[Study]:
    from barnabas.fuzz.states.clients.deviations import deviations_of, doubtful_inputs, word

    for alphabet in _chosen(CLIENT_ALPHABETS, names, "clients", ALPHABETS):
        subjects = [
            Subject(
                client.name,
                lambda sent, client=client, alphabet=alphabet: stack.enter_context(  # type: ignore[misc]
                    ClientConversation(client, alphabet, sent)
                ),
            )
            for client in clients
        ]
        yield Study(
            alphabet,
            subjects,
            partial(doubtful_inputs, alphabet),
            partial(deviations_of, alphabet),
            alphabet.source,
            CLIENTS_WALKS,
            CLIENTS_LENGTH,
            word,
            switched_off=lambda machine: (),
            captions=lambda machine: (),
        )


Named = TypeVar("Named", bound=InputAlphabet)


def _chosen(
    alphabets: Sequence[Named],
    names: Sequence[str],
    of_whom: str,
    of_others: Sequence[InputAlphabet],
) -> list[Named]:
    by_name = {alphabet.name: alphabet for alphabet in alphabets}
    for name in names:
        if name not in by_name:
            if any(alphabet.name == name for alphabet in of_others):
                listed = ", ".join(by_name)
                raise Trouble(f"{name} is no alphabet of {of_whom}; these are: {listed}")
            raise Trouble(f"{name}: no such alphabet{choices(name, [*by_name])}")
    return [by_name[name] for name in dict.fromkeys(names)] or [*alphabets]


def _client(text: str) -> Client:
    try:
        return library(text.removeprefix(CLIENT))
    except (Misuse, UnknownClientError) as problem:
        raise Trouble(str(problem)) from None


def _broker(text: str, owned: bool) -> BrokerTarget:
    broker = make_target(text, owned)
    if not isinstance(broker, BrokerTarget):
        raise Trouble(f"{text}: states are learned of brokers and clients, e.g. apache:4.3.1")
    return broker


def _common(offers: Iterable[dict[int, tuple[int, int]]]) -> dict[int, tuple[int, int]]:
    """Return the versions that all brokers offer, since all get the same requests."""
    first, *others = offers
    for other in others:
        first = {
            key: (max(low, other[key][0]), min(high, other[key][1]))
            for key, (low, high) in first.items()
            if key in other and max(low, other[key][0]) <= min(high, other[key][1])
        }
    return first
