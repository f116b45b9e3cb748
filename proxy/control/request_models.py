"""The models of JSON bodies of requests."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from starlette.exceptions import HTTPException
from starlette.requests import Request

from barnabas.proxy.control.bodies import read_text
from barnabas.proxy.control.selection import selection
from barnabas.specs.frames import Direction

LONGEST_WAIT: Final = 600_000
"""The most milliseconds that a request waits."""

NAME: Final = 200
"""The most characters of a test's name."""

Count = Annotated[int, Field(ge=0)]


class RequestBody(BaseModel):
    """The base of request bodies: strict, without unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True)


class DraftRequest(RequestBody):
    """The rule to draft."""

    exchange: int
    do: str
    direction: Direction = "request"
    fields: list[str] | None = None
    settings: str | None = None
    """The fault's settings in YAML."""


class NewTest(RequestBody):
    """A test that begins; `scenario` is YAML, the same as JSON, or the name of a ready scenario."""

    name: Annotated[str, Field(max_length=NAME)] = ""
    scenario: str | dict[str, Any] | None = None
    capture: bool = True


class WaitFor(RequestBody):
    """The number of exchanges to wait for, and the timeout.

    `since`: The number of first exchanges of the test that do not count.
    """

    filter: str = ""
    since: Count = 0
    count: Annotated[int, Field(ge=1)] = 1
    timeout_ms: Annotated[int, Field(ge=0, le=LONGEST_WAIT)] = 10_000


class Retries(RequestBody):
    """The allowed number of retries of an API, by clients whose id matches a glob."""

    api: str | None = None
    client_id: str | None = None
    at_least: Count = 0
    at_most: Count | None = None

    @field_validator("api")
    @classmethod
    def _known(cls, api: str | None) -> str | None:
        return None if api is None else str(selection(api, None, None)["api"])


class Assertions(RequestBody):
    """The assertions about all exchanges of a test, without its first `since`; absent ones always hold.

    `duplicate_sequences` is their exact number; `findings` are the names of the checks with findings.
    """

    since: Count = 0
    retries: Retries | None = None
    duplicate_sequences: Count | None = None
    findings: list[str] | None = None


Model = TypeVar("Model", bound=RequestBody)


async def read_body(request: Request, model: type[Model]) -> Model:
    """Return the body of a request as a model; an empty body has no fields.

    Raises:
        HTTPException: The body is invalid.
    """
    try:
        return model.model_validate_json(await read_text(request) or "{}")
    except ValidationError as problem:
        first = problem.errors()[0]
        raise HTTPException(400, ": ".join([*map(str, first["loc"]), first["msg"]])) from None
