"""Makes a rule from a message; the rule matches messages with the same chosen attributes."""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple, get_args

import yaml
from pydantic import BaseModel, ValidationError

from barnabas.captures.kafka.wording import joined, shorten
from barnabas.nearest import did_you_mean
from barnabas.proxy.error_responses.reach import nameable
from barnabas.proxy.faults import CONNECTIONS, FAULTS, Fault
from barnabas.proxy.faults.edit import Edit
from barnabas.proxy.faults.hold import Hold
from barnabas.proxy.faults.respond import Respond
from barnabas.proxy.matching.contents import is_declared
from barnabas.proxy.matching.message import Message
from barnabas.proxy.scenario.example import example
from barnabas.proxy.scenario.file import Scenario, examine
from barnabas.proxy.scenario.planned_faults import alone
from barnabas.proxy.scenario.yaml_lines import dump
from barnabas.specs.entities import Entity
from barnabas.specs.error_codes import ERROR_CODES
from barnabas.specs.registry import NAMES

MANY: Final = 10
"""The most names, or errors, of one message that a rule names."""

NAME: Final = 60
"""About the most characters of a rule's name."""

LONG: Final = 100
"""The most characters of a text that is chosen as the field to change."""

_ERRORS: Final = {error.code: error.name for error in ERROR_CODES}
_WIDER: Final = ("version", "broker", "error", "acks")
"""The parts that a rule does not have by default."""


class Undraftable(ValueError):
    """The error that there is no such rule for this message, with the reason."""


class MatchCondition(NamedTuple):
    """A part of `match`: its name, its value as in a scenario, and whether the rule has it."""

    name: str
    value: Any
    kept: bool


class RuleDraft(NamedTuple):
    """A rule as plain values, and all parts that its match could have."""

    rule: dict[str, Any]
    parts: list[MatchCondition]


def draft(
    message: Message,
    do: str,
    keep: Collection[str] | None = None,
    settings: Any = None,
    *,
    body: Mapping[str, Any] | None = None,
    faults: tuple[Fault, ...] = FAULTS,
) -> RuleDraft:
    """Return a rule that applies a fault to messages like this one.

    Args:
        message: The message.
        do: The fault's name.
        keep: The parts of the rule's match; None: those by which people distinguish messages.
        settings: The fault's settings; None: valid examples.
        body: The message's body in JSON form, from which a field to change is chosen.
        faults: The faults that rules may have.

    Raises:
        Undraftable: There is no such rule.
    """
    if not is_declared(message.key, message.version) or message.key not in NAMES:
        raise Undraftable("rules can't name messages of this API and version")
    models = {name: model for name, model, *_ in faults}
    if do not in models:
        raise Undraftable(f"no fault is called {do!r}{did_you_mean(do, models)}")
    model = models[do]
    if issubclass(model, CONNECTIONS):
        raise Undraftable(f"{do} applies to connections: its match has broker only")
    parts = [
        MatchCondition(name, value, name not in _WIDER if keep is None else name in keep)
        for name, value in _parts(message)
    ]
    values = _settings(model, message, body) if settings is None else settings
    short = alone(model)
    if isinstance(values, dict) and list(values) == [short]:
        values = values[short]  # delay: 200ms
    client = f"of {message.client_id}" if message.client_id else ""
    name = shorten(joined(do, NAMES[message.key], client), NAME)
    rule: dict[str, Any] = {"name": name}
    match = {part.name: part.value for part in parts if part.kept}
    if match:
        rule["match"] = match
    rule["do"] = do if values is None else {do: values}
    _check(rule, do, message, faults)
    return RuleDraft(rule, parts)


def _parts(message: Message) -> Iterator[tuple[str, Any]]:
    yield "api", NAMES[message.key]
    yield "direction", message.direction
    yield "version", message.version
    if message.client_id is not None:
        yield "client_id", glob.escape(message.client_id)
    if message.broker is not None:
        yield "broker", message.broker
    for entity in get_args(Entity):
        names = sorted(message.names(entity))[:MANY]
        if names:
            yield entity, _single(list(map(glob.escape, names)))
    errors = sorted(message.errors() - {0})[:MANY]
    if errors:
        yield "error", _single([_ERRORS.get(code, code) for code in errors])
    if message.acks is not None:
        yield "acks", "all" if message.acks == -1 else message.acks


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _settings(model: type[BaseModel], message: Message, body: Mapping[str, Any] | None) -> Any:
    """Return valid settings; None if the fault needs none."""
    if model is Hold:
        return {"control": True}
    if model is Respond:
        return {"error": _error(message), **_only(message)}
    if model is Edit:
        path, value = next(_fields(body), (None, None))
        if path is None:
            raise Undraftable("this message has no field to change")
        return {"set": {path: value}}
    try:
        model.model_validate({})
    except ValidationError:
        return yaml.safe_load(example(model))
    return None


def _only(message: Message) -> dict[str, Any]:
    """Return `only` with the first of a request's entries; {} if it has none with an error of its own."""
    named = nameable(message.key, message.version)
    partitions = sorted((name, index) for name, _, index in message.partitions() if name)
    if "partition" in named and partitions:
        topic, index = partitions[0]
        return {"only": {"topic": glob.escape(topic), "partition": index}}
    several = (e for e in get_args(Entity) if e in named and len(message.names(e)) > 1)
    return next(({"only": {e: glob.escape(min(message.names(e)))}} for e in several), {})


def _error(message: Message) -> str:
    """Return the name of an error with which brokers answer such a request."""
    if message.names("group") or message.names("transactional_id"):
        return "NOT_COORDINATOR"
    return "NOT_LEADER_OR_FOLLOWER" if message.names("topic") else "UNKNOWN_SERVER_ERROR"


def _fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield single values of a body with their paths, except secrets, which the form marks."""
    match value:
        case Mapping():
            for name, inner in value.items():
                if not name.startswith("_"):
                    yield from _fields(inner, f"{path}.{name}" if path else name)
        case list():
            for index, inner in enumerate(value):
                yield from _fields(inner, f"{path}[{index}]")
        case bool() | int():
            yield path, value
        case str() if len(value) <= LONG and not value.startswith("<redacted"):
            yield path, value


def free_name(name: str, names: Collection[str]) -> str:
    """Return the name, with a number after it if another rule has it."""
    if name not in names:
        return name
    return next(other for n in range(2, len(names) + 3) if (other := f"{name} {n}") not in names)


def _check(rule: dict[str, Any], do: str, message: Message, faults: tuple[Fault, ...]) -> None:
    """Raise Undraftable if the rule does not load, or does not apply to the message."""
    scenario = examine(dump({"version": 1, "rules": [rule]}), faults)
    if not isinstance(scenario, Scenario):
        raise Undraftable("; ".join(problem for _, problem in scenario))
    applies = getattr(scenario.rules[0].do[0].config, "applies_to", lambda *_: True)
    if not applies(message.key, message.direction, message.version):
        raise Undraftable(f"{do} does not apply to {NAMES[message.key]} {message.direction}s")
