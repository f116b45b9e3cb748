"""Bodies of requests that are JSON, and are more than a rule: the models that they are read by."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.exceptions import HTTPException
from starlette.requests import Request

from barnabas.proxy.control.bodies import read_text
from barnabas.proxy.control.selection import selection
from barnabas.specs.frames import Direction

LONGEST_WAIT: Final = 600_000
"""Milliseconds that a request waits at most."""

NAME: Final = 200
"""Characters of a test's name."""

Count = Annotated[int, Field(ge=0)]


class Asked(BaseModel):
    """A body."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Wanted(Asked):
    """Which rule is to be drafted."""

    exchange: int
    do: str
    direction: Direction = "request"
    fields: list[str] | None = None
    settings: str | None = None
    """In YAML."""


class NewTest(Asked):
    """A test that begins. scenario: YAML, or the same as JSON, or the name of a ready one."""

    name: Annotated[str, Field(max_length=NAME)] = ""
    scenario: str | dict[str, Any] | None = None
    capture: bool = True


class WaitFor(Asked):
    """How many exchanges that pass a filter are waited for, since the test began, and for how long."""

    filter: str = ""
    count: Annotated[int, Field(ge=1)] = 1
    timeout_ms: Annotated[int, Field(ge=0, le=LONGEST_WAIT)] = 10_000


class Retries(Asked):
    """How many retries there may be, of an API, of clients whose id is as a glob says."""

    api: str | None = None
    client_id: str | None = None
    at_least: Count = 0
    at_most: Count | None = None

    @field_validator("api")
    @classmethod
    def _known(cls, api: str | None) -> str | None:
        return None if api is None else str(selection(api, None, None)["api"])


class Assertions(Asked):
    """What is to hold of all that passed; what is left out may be anything. duplicate_sequences: how many
    there are. findings: the names of the checks that find something."""

    retries: Retries | None = None
    duplicate_sequences: Count | None = None
    findings: list[str] | None = None


Model = TypeVar("Model", bound=Asked)


async def read_asked(request: Request, model: type[Model]) -> Model:
    """The body of a request; an empty one says nothing. Raises HTTPException for one that is none."""
    try:
        return model.model_validate_json(await read_text(request) or "{}")
    except ValidationError as problem:
        first = problem.errors()[0]
        raise HTTPException(400, ": ".join([*map(str, first["loc"]), first["msg"]])) from None
