"""What is wrong with a scenario, in words: pydantic's errors with lines and the nearest name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from barnabas.captures.kafka.wording import middle
from barnabas.nearest import did_you_mean
from barnabas.proxy.faults import Fault
from barnabas.proxy.matching.settings import SAID, Loc
from barnabas.proxy.scenario.example import example
from barnabas.proxy.scenario.yaml_lines import Document

_MUST: Final = {
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "frozen_set_type": "must be a list",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must not be empty",
    "string_too_short": "must not be empty",
}
"""Wording by pydantic's type of error; its own message for any other."""


WORD: Final = 60
"""A longer word of what is wrong, such as a number of thousands of digits, is told by its ends."""

_LONG: Final = re.compile(rf"\S{{{WORD + 1},}}")


class ScenarioError(ValueError):
    """A scenario is wrong; `problems` has a line for everything that is."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def explain(
    error: ValidationError,
    document: Document,
    root: type[BaseModel],
    faults: tuple[Fault, ...] = (),
    whole: str = "the scenario",
) -> Iterator[tuple[int, str]]:
    """Each problem with its line, unless it comes of another one. whole: what the document is called."""
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        # where all items of a list are wrong, pydantic also calls it too short
        lost = detail["type"] == "too_short" and detail["input"]
        if lost or document.about_unread(loc):
            continue
        if detail["type"] == SAID:
            text = detail["msg"]
        elif detail["type"] == "missing":
            text = f"{loc[-1]!r} is missing in {_place(loc[:-1], whole)}"
        elif detail["type"] == "extra_forbidden":
            name, place = str(loc[-1]), _place(loc[:-1], whole)
            belongs = _belongs(loc, root, faults)
            text = (
                f"unknown key {name!r} in {place}; it belongs {belongs}"
                if belongs
                else unknown("key", name, _names(loc, root, faults), place)
            )
        else:
            text = f"{_place(loc, whole)}: {_phrase(detail, _model_at(loc, root, faults))}"
        yield document.line(loc), _LONG.sub(lambda word: middle(word[0], WORD), text)


def unknown(what: str, name: str, known: tuple[str, ...], place: str) -> str:
    """The wording for a name that does not exist.

    >>> unknown("key", "delai", ("drop", "delay"), "do")
    "unknown key 'delai' in do; did you mean 'delay'?"
    """
    return f"unknown {what} {name!r} in {place}{did_you_mean(name, known)}"


def _place(loc: Loc, whole: str) -> str:
    names = [step for step in loc if isinstance(step, str)]
    if not names:
        return whole
    if names == ["rules"] and len(loc) > 1:
        return "the rule"
    return names[-1]


def _phrase(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    """What is wrong with a value; model: what the settings there are, if it has some."""
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] == "value_error":
        return str(context["error"])
    text = _MUST.get(detail["type"])
    if detail["type"] == "model_type" and model is not None:
        found = example(model)
        return (
            f"expected {'no settings' if found == '{}' else found}, not {_shown(detail['input'])}"
        )
    if text is None:
        return detail["msg"]
    text = text.format_map(context)
    return text if text.endswith("empty") else f"{text}, not {_shown(detail['input'])}"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case tuple() | list():
            return "a list"
    return repr(value) if isinstance(value, str | int | float) else str(value)


def _names(loc: Loc, root: type[BaseModel], faults: tuple[Fault, ...]) -> tuple[str, ...]:
    """The keys that are known where an unknown one stands."""
    model = _model_at(loc[:-1], root, faults)
    return tuple(model.model_fields) if model is not None else ()


def _belongs(loc: Loc, root: type[BaseModel], faults: tuple[Fault, ...]) -> str:
    """Where an unknown key is known: beside one that it stands in, or in one beside it; empty: nowhere."""
    name = loc[-1]
    for depth in range(len(loc) - 2, -1, -1):
        around = _model_at(loc[:depth], root, faults)
        if isinstance(loc[depth], str) and around is not None and name in around.model_fields:
            return f"beside {loc[depth]}"
    here = _model_at(loc[:-1], root, faults)
    for key, field in here.model_fields.items() if here is not None else ():
        inner = _model(field.annotation)
        names = [*inner.model_fields] if inner is not None else []
        if name in ([each for each, *_ in faults] if key == "do" else names):
            return f"in {key}"
    return ""


def _model_at(loc: Loc, root: type[BaseModel], faults: tuple[Fault, ...]) -> type[BaseModel] | None:
    """The settings that stand at a place, if there are any."""
    model: type[BaseModel] | None = root
    settings = {name: model for name, model, *_ in faults}
    inside = False
    for step in loc:
        if isinstance(step, int) or model is None:
            continue
        if step == "do" and not inside:
            inside = True
        elif inside and step in settings:
            model = settings.pop(step)
            settings = {}
        else:
            model = _model(model.model_fields[step].annotation)
    return model


def _model(annotation: Any) -> type[BaseModel] | None:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model(part))), None)
