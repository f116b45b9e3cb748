"""The base of all models of a scenario file: strict, frozen, without unknown keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

Loc = tuple[int | str, ...]
"""Where something stands in a scenario: keys and positions from the top."""

SAID: Final = "said"
"""The type of an error whose text is complete: nothing is put in front of it."""


class Settings(BaseModel):
    """Base of the models: the docstrings of the fields become descriptions of the JSON Schema."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,  # YAML has types: a text is no number, and `yes` is no 1
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


def one_of(*names: str) -> dict[str, Any]:
    """JSON Schema: exactly one of these settings is given."""
    return {"oneOf": [{"required": [name]} for name in names]}


def some_of(*names: str) -> dict[str, Any]:
    """JSON Schema: at least one of these settings is given."""
    return {"anyOf": [{"required": [name]} for name in names]}


def said(loc: Loc, text: str) -> InitErrorDetails:
    """A problem in its final words, for `raise_all`."""
    return InitErrorDetails(
        type=PydanticCustomError(SAID, "{text}", {"text": text}), loc=loc, input=None
    )


def again(prefix: Loc, error: ErrorDetails) -> InitErrorDetails:
    """A problem that an inner model found, for `raise_all`, with its place in the outer one."""
    context: Mapping[str, Any] = error.get("ctx", {})
    kind = PydanticCustomError(error["type"], "{text}", {**context, "text": error["msg"]})
    return InitErrorDetails(type=kind, loc=(*prefix, *error["loc"]), input=error["input"])


def raise_all(problems: Iterable[InitErrorDetails]) -> None:
    """Raise these problems, if any, from within a validator; pydantic joins them with the others."""
    if found := list(problems):
        raise ValidationError.from_exception_data("scenario", found)
