"""`respond` with `only` on every API and version, with requests that Kafka's own classes wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from barnabas.proxy.effects import Amend, Answer, Become
from barnabas.proxy.error_responses.error_response import by_position, error_response
from barnabas.proxy.error_responses.identities import Identities, Identity
from barnabas.proxy.error_responses.pairs import Pair, is_code, pairs
from barnabas.proxy.error_responses.reach import branches, is_read, nameable
from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.scope import KINDS
from barnabas.specs import NAMES, api
from barnabas.specs.keys import ADD_PARTITIONS_TO_TXN
from tests.golden.frames import BY_API

CODE, NOT_ATTEMPTED = 41, 55
EMPTY: Final[Identity] = {}
CASES: Final = ("full", "unknown-tags", "random-0", "random-1")


def requests(name: str) -> Iterator[tuple[Message, dict[str, Any]]]:
    """Yield requests of an API, each as a message and decoded."""
    for frame in BY_API[name]:
        if frame["direction"] == "request" and frame["case"] in CASES:
            body = bytes.fromhex(frame["hex"])
            key, version = frame["key"], frame["version"]
            message = Message("request", key, version, "me", 1, 1, 0, None, len(body), body)
            yield message, message.values()
            if "key_type" in message.values():  # FindCoordinator, of a transactional id
                message.become(message.encoded(message.values() | {"key_type": 1}), None, "")
                yield message, message.values()


def identities(
    message: Message, values: Any, path: tuple[str, ...] = (), above: Identity = EMPTY
) -> Iterator[Any]:
    """Yield what each structure of a request identifies."""
    reader = Identities(message.key, message.version)
    identity = reader.of("request", values, path, above)
    yield identity
    arrays = {branch.name for branch in branches(pairs(message.key, message.version))}
    for name, inner in values.items():
        if arrays and not path and name not in arrays:
            continue  # such as forgotten topics of a Fetch: they have no entry in the response
        for item in inner if isinstance(inner, list) else ():
            if isinstance(item, dict):
                yield from identities(message, item, (*path, name), identity)
            else:
                yield reader.of_plain((*path, name), item, identity)


def entries(
    message: Message,
    values: dict[str, Any],
    answered: tuple[Pair, ...],
    path: tuple[str, ...],
    above: Identity,
) -> Iterator[tuple[Identity, int]]:
    """Yield each entry of a response with a code of its own, and what it identifies."""
    reader = Identities(message.key, message.version)
    for pair in answered:
        for entry in values.get(pair.name) or ():
            identity = reader.of("response", entry, (*path, pair.name), above)
            codes = [slot.name for slot in pair.element.slots if is_code(slot)]
            if codes and not by_position(pair):
                yield identity, entry[codes[0]]
            yield from entries(message, entry, pair.inner, (*path, pair.name), identity)


@pytest.mark.parametrize("name", NAMES.values())
def test_the_chosen_entries_get_the_error_and_no_others(name: str) -> None:
    tried: set[str] = set()
    possible: set[str] = set()
    for message, values in requests(name):
        named = nameable(message.key, message.version) & {*KINDS}
        possible |= named
        top = next(identities(message, values))
        for identity in identities(message, values):
            for kind in named & identity.keys():
                if identity[kind] != top.get(kind, identity[kind]):
                    continue  # the member that assigns partitions to others
                tried.add(kind)
                _try(message, values, kind, identity[kind])
    # `member` is also called `instance`, and a topic has an id in newer versions
    assert possible - tried <= {"topic", "partition", "producer_id", "config"}


def _try(message: Message, values: dict[str, Any], kind: str, chosen: Any) -> None:
    key, version = message.key, message.version
    name = (
        chosen
        if isinstance(chosen, int)
        else "".join(f"[{c}]" if c in "*?[" else c for c in chosen)
    )
    settings = {"error": CODE, "only": {kind: name}}
    if kind == "partition" and chosen < 0:
        return
    config = Respond.model_validate(settings)
    assert config.applies_to(key, "request", version)
    codec = api(key).response.codec(version)
    effects = respond(config, message, float)
    answer = effects[-1]
    if isinstance(answer, Answer):
        result = codec.decode(answer.body)
    else:
        assert isinstance(answer, Amend)
        left = values
        if isinstance(effects[0], Become):
            left = api(key).request.codec(version).decode(effects[0].body)
        if is_read(key):
            left = values
        else:
            assert chosen not in [each.get(kind) for each in identities(message, left)]
        broker = error_response(key, version, left, 0)
        result = codec.decode(answer.change(codec.encode(broker)))
    top = Identities(key, version).of("request", values, (), {})
    told = list(entries(message, result, pairs(key, version), (), top))
    everything = error_response(key, version, values, CODE)
    for identity, _ in entries(message, everything, pairs(key, version), (), top):
        if identity.get(kind) == chosen:
            assert (identity, CODE) in told
    for identity, code in told:
        if kind in identity and identity[kind] != chosen:
            assert code == 0 or (code == NOT_ATTEMPTED and key == ADD_PARTITIONS_TO_TXN)
        elif kind in identity:
            assert code == CODE
