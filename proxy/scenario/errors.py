"""The problems of a scenario as text: pydantic's errors with lines and the nearest names."""

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
"""Texts by pydantic's type of error; other types keep pydantic's message."""


WORD: Final = 60
"""The longest word in a text; a longer one, such as a number of thousands of digits, is cut in the middle."""

_LONG: Final = re.compile(rf"\S{{{WORD + 1},}}")


class ScenarioError(ValueError):
    """The error that a scenario is invalid; `problems` has a line for each problem."""

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
    """Yield each problem with its line, unless it follows from another one.

    Args:
        error: The validation error.
        document: The document, which knows the lines.
        root: The model of the document.
        faults: The faults that may be named.
        whole: The name of the document in the texts.
    """
    for detail in error.errors(include_url=False):
        loc = detail["loc"]
        # if all items of a list are wrong, pydantic also calls the list too short
        lost = detail["type"] == "too_short" and detail["input"]
        if lost or document.about_unread(loc):
            continue
        if detail["type"] == SAID:
            text = detail["msg"]
        elif detail["type"] == "missing":
            text = f"{loc[-1]!r} is missing in {_location(loc[:-1], whole)}"
        elif detail["type"] == "extra_forbidden":
            name, location = str(loc[-1]), _location(loc[:-1], whole)
            belongs = _known_place(loc, root, faults)
            text = (
                f"unknown key {name!r} in {location}; it belongs {belongs}"
                if belongs
                else unknown("key", name, _names(loc, root, faults), location)
            )
        else:
            text = f"{_location(loc, whole)}: {_problem(detail, _model_at(loc, root, faults))}"
        yield document.line(loc), _LONG.sub(lambda word: middle(word[0], WORD), text)


def unknown(noun: str, name: str, names: tuple[str, ...], location: str) -> str:
    """Return the text about a name that does not exist.

    >>> unknown("key", "delai", ("drop", "delay"), "do")
    "unknown key 'delai' in do; did you mean 'delay'?"
    """
    return f"unknown {noun} {name!r} in {location}{did_you_mean(name, names)}"


def _location(loc: Loc, whole: str) -> str:
    names = [step for step in loc if isinstance(step, str)]
    if not names:
        return whole
    if names == ["rules"] and len(loc) > 1:
        return "the rule"
    return names[-1]


def _problem(detail: ErrorDetails, model: type[BaseModel] | None) -> str:
    """Return the problem of a value; `model` is the model of the settings there, if there is one."""
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] == "value_error":
        return str(context["error"])
    text = _MUST.get(detail["type"])
    if detail["type"] == "model_type" and model is not None:
        example_text = example(model)
        expected = "no settings" if example_text == "{}" else example_text
        return f"expected {expected}, not {_shown(detail['input'])}"
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
    """Return the known keys at the place of an unknown one."""
    model = _model_at(loc[:-1], root, faults)
    return tuple(model.model_fields) if model is not None else ()


def _known_place(loc: Loc, root: type[BaseModel], faults: tuple[Fault, ...]) -> str:
    """Return the place where an unknown key is known, next to or in a key nearby; "" if there is none."""
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
    """Return the model of the settings at a location, if there is one."""
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
    return next((model for part in get_args(annotation) if (model := _model(part))), None)
