"""The base of all models of a scenario file: strict, frozen, without unknown keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

Loc = tuple[int | str, ...]
"""A location in a scenario: keys and indexes from the top."""

SAID: Final = "said"
"""The type of an error whose text is complete: no location is added to it."""


class Settings(BaseModel):
    """The base of the models; docstrings of fields become descriptions in the JSON Schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,  # YAML has types: a text is not a number, and `yes` is not 1
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


def one_of(*names: str) -> dict[str, Any]:
    """Return the JSON Schema that requires exactly one of these settings."""
    return {"oneOf": [{"required": [name]} for name in names]}


def some_of(*names: str) -> dict[str, Any]:
    """Return the JSON Schema that requires at least one of these settings."""
    return {"anyOf": [{"required": [name]} for name in names]}


def said(loc: Loc, text: str) -> InitErrorDetails:
    """Return a problem with its complete text, for `raise_all`."""
    return InitErrorDetails(
        type=PydanticCustomError(SAID, "{text}", {"text": text}), loc=loc, input=None
    )


def again(prefix: Loc, error: ErrorDetails) -> InitErrorDetails:
    """Return a problem of an inner model with its location in the outer one, for `raise_all`."""
    context: Mapping[str, Any] = error.get("ctx", {})
    custom_error = PydanticCustomError(error["type"], "{text}", {**context, "text": error["msg"]})
    return InitErrorDetails(type=custom_error, loc=(*prefix, *error["loc"]), input=error["input"])


def raise_all(problems: Iterable[InitErrorDetails]) -> None:
    """Raise these problems, if any, from within a validator; pydantic joins them with the others."""
    if errors := list(problems):
        raise ValidationError.from_exception_data("scenario", errors)
