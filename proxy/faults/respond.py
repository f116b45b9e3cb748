"""`respond`: the proxy answers the request, and the broker never gets it.

The response has an error on every level where that API has one, for everything that the request names (a test
compares it with Kafka's own classes), or a `body`. A matched response is replaced.

With `only`, some entries of the request are refused: one partition, one group. The broker gets the other
entries of a write, and its response gets the errors of the refused ones. It gets reads whole, and the errors
replace entries of its response: a Fetch without a partition would end that partition's part in the session
(KIP-227). A Fetch with a refused partition is answered at once, as a broker answers errors. With `after`, the
broker gets the whole request, and the client the error, unless the broker's own response has one.

acks=0: removed, without a response. With `only` or `after`: the connection is closed when the rest has left,
as brokers do (KafkaApis.handleProduceRequest).
Order: the response leaves in the client's order.
In flight: until the response leaves, though no byte of the request may leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.proxy.effects import Answer, Become, Effects
from barnabas.proxy.error_responses.error_response import error_response
from barnabas.proxy.error_responses.reach import is_read
from barnabas.proxy.faults.edit import Path
from barnabas.proxy.faults.refusal import AFTER_WORK, answer_later, refuse
from barnabas.proxy.matching.contents import has_errors
from barnabas.proxy.matching.field_paths import FieldValue, Topics, fitted_body, set_at
from barnabas.proxy.matching.message import Message, Unable
from barnabas.proxy.matching.notation import ERROR_SCHEMA, error_code
from barnabas.proxy.matching.scope import Only
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import api
from barnabas.specs.codec import Codec, Unfit
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout


class Respond(Settings):
    """The proxy answers the request; the broker never gets it. A matched response is replaced.

    The response leaves when it is its turn, and has an entry for everything that the request names. A Produce
    with acks=0 is removed, and gets no response, as from a broker. With `only` the broker carries out the
    rest of the request, with `after` all of it.
    """

    error: Annotated[
        int,
        BeforeValidator(error_code),
        WithJsonSchema(ERROR_SCHEMA),
    ] = 0
    """Name or code of an error; every error code of the response gets it."""
    only: Only | None = None
    """Refuses some entries of the request: `{topic: orders, partition: [1, 3]}`. The rule then matches only
    requests with such an entry."""
    after: bool = False
    """Whether the broker does the work before the client gets the error."""
    set: Mapping[Path, Any] = Field(default={}, strict=False)
    """Path -> another value in the response (`throttle_time_ms: 500`). With `only`, fields that the response
    lacks are left out."""
    body: Mapping[str, Any] | None = Field(default=None, strict=False)
    """The whole body instead; missing fields take their defaults."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.body is not None and (self.error or self.set):
            raise ValueError("give body alone, or error and set")
        for name in ("only", "after"):
            if getattr(self, name) and not self.error:
                raise ValueError(f"{name} needs an error")
        return self

    @property
    def forwards(self) -> bool:
        """Return whether the broker may get the request, or a part of it."""
        return self.only is not None or self.after

    @property
    def caution(self) -> str:
        """Return a note about an error that Kafka does not report after the work."""
        if not self.after or self.error in AFTER_WORK:
            return ""
        return (
            f"with after: Kafka reports {error_in(0, self.error)} only if it has not done the work"
        )

    @property
    def concerns(self) -> Callable[[Message], bool] | None:
        """Return the function that returns whether a request has an entry to refuse; None without `only`."""
        return None if self.only is None else self._concerns

    def _concerns(self, message: Message) -> bool:
        assert self.only is not None  # noqa: S101 - see `concerns`
        whole = self.after or is_read(message.key)
        return message.direction == "request" and self.only.concerns(message, whole=whole)

    @property
    def field_values(self) -> Iterator[FieldValue]:
        """Yield the values that the settings give to fields."""
        for path, value in self.set.items():
            yield FieldValue(("set", path), path, value)
        if self.body is not None:
            yield FieldValue(("body",), "", self.body)

    def layout(self, key: int, direction: Direction, version: int) -> Layout:
        """Return the layout of the response to such a message."""
        return api(key).response.layout(version)

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether the response to a message can have the error that the settings give."""
        if self.error and self.body is None:
            fits = self.only is None or self.only.names_in(key, version)
            return direction == "request" and has_errors(key, "response", version) and fits
        return True


def respond(config: Respond, message: Message, roll: Roll) -> Effects:
    """Make the response, or change the broker's; no random draw.

    Raises:
        Unable: The response cannot be encoded, an error is given for a response, or the request has no entry
            to refuse.
    """
    if message.direction == "response" and config.body is None and config.error:
        raise Unable(
            "respond with an error applies to requests: match direction: request, or use edit"
        )
    codec = api(message.key).response.codec(message.version)
    if config.only is not None:
        write = partial(_merged, config, codec, message.topics)
        return refuse(message, config.only, config.error, write, after=config.after)
    encode = partial(_encoded, config, codec, message.topics)
    if config.body is not None:
        values = fitted_body(config.body, codec.layout)
    elif message.direction == "response":
        values = message.values()
    else:
        values = error_response(message.key, message.version, message.values(), config.error)
    body = encode(values)
    if message.direction == "response":
        return (Become(body, "answered by the proxy"),)
    if config.after:
        description = f"respond {error_in(message.key, config.error)}"
        keeps_errors = bool(config.error)
        return answer_later(
            message, lambda _: body, description, len(body), keeps_errors=keeps_errors
        )
    return (Answer(body),)


def _merged(config: Respond, codec: Codec, topics: Topics, values: dict[str, Any]) -> bytes:
    """Return the body of a merged response; fields that it lacks are not set, because errors go first."""
    for path, value in config.set.items():
        with suppress(Unable):
            set_at(values, codec.layout, path, value, topics)
    return _body(codec, values)


def _encoded(config: Respond, codec: Codec, topics: Topics, values: dict[str, Any]) -> bytes:
    """Return the body of a response, with the fields that the settings set."""
    for path, value in config.set.items():
        set_at(values, codec.layout, path, value, topics)
    return _body(codec, values)


def _body(codec: Codec, values: dict[str, Any]) -> bytes:
    try:
        return codec.encode(values)
    except Unfit as problem:
        raise Unable(str(problem)) from None
