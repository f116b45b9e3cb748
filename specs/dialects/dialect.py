"""A dialect: a protocol that frames its messages as Kafka does, and has its own APIs.

The core looks up the dialect of a connection or a capture; None means Kafka's own protocol. A package adds a
dialect by an entry point, and everything that works from declarations supports it: the proxy with its rules
and faults, `decode`, `summary`, `check`, the page, `spec show`.

     # echo_protocol.py, which an entry point of the group barnabas.dialects names:
     #     [project.entry-points."barnabas.dialects"]
     #     echo = "echo_protocol:ECHO"
     Echo = Api(0, "Echo", versions=(0, 0),
                request=Message("text" / String), response=Message("text" / String))
     ECHO = Dialect(
         name="echo",
         number=1000,
         title="A protocol that returns what it gets",
         document="its README",
         request_header=Message("key" / Int16, "correlation_id" / Int32).of("EchoRequest", (0, 0), FOREVER),
         response_header=Message("correlation_id" / Int32).of("EchoResponse", (0, 0), FOREVER),
         key_field="key",
         version_field=None,
         apis=(DialectApi(Echo, "consumer", "broker", source="its README"),),
         errors=(),
         phrases={"Echo": (("text",), (), lambda request, response, topics: request.get("text", ""))},
     )

Layouts use the notation of `barnabas.specs.declaration`. Every frame begins with an int32 size, which does
not count itself.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from barnabas.nearest import did_you_mean
from barnabas.specs.message import Api, Message

Role = Literal["consumer", "broker", "coordinator"]
"""A program that sends requests or responses. A coordinator is a broker that coordinates the group."""

LAST_NUMBER: Final = 32_766
"""The highest number of a dialect: the keys of its APIs stay below 2 to the power of 31."""

LAST_KEY: Final = 32_767
"""The highest key of an API: headers have an int16."""

BY_CORRELATION_ID: Final = "barnabas.captures.kafka.pairing.dialect_pairing:CorrelationPairing"
"""The pairing of dialects whose headers have a field `correlation_id`."""

Phrase = Callable[[dict[str, Any], dict[str, Any], Mapping[uuid.UUID, str]], str]
"""(fields of the request, fields of the response, topic names by topic id) -> words of a log line."""

PhraseRow = tuple[tuple[str, ...], tuple[str, ...], Phrase]
"""The paths that a phrase needs of the request and of the response, and the phrase."""


class DialectError(NamedTuple):
    """An error code of a dialect.

    `reconstructed` names the parts that no source gives: "name", "code", both or neither.
    """

    code: int
    name: str
    source: str
    reconstructed: tuple[Literal["name", "code"], ...] = ()


@dataclass(frozen=True, eq=False)
class DialectApi:
    """An API of a dialect: layouts, the roles that send requests and responses, and the source.

    Attributes:
        reconstructed: Dotted paths of the parts that no source gives: "key" (the number in the header),
            "version", "request" or
            "response" for a whole layout, "request.field" for a field and all inner fields.
        because: The reasons for reconstructions.
        other_responses: Further layouts that a response may have. Nothing in a frame distinguishes them.
        addresses: The fields of responses with addresses of brokers, which the proxy replaces: the prefix of
            the paths of `host` and
            `port`, and the path of the node id.
    """

    api: Api
    asker: Role
    answerer: Role
    source: str
    reconstructed: tuple[str, ...] = ()
    because: str = ""
    other_responses: tuple[Message, ...] = ()
    addresses: tuple[str, str] | None = None

    @property
    def key(self) -> int:
        """The number of the API in the header of a request."""
        return self.api.key

    @property
    def name(self) -> str:
        """The name of the API, without Request or Response."""
        return self.api.name

    @property
    def version(self) -> int:
        """The only version that the dialect has."""
        return self.api.versions[0]

    @property
    def request(self) -> Message:
        """The body of the request."""
        return self.api.request

    @property
    def responses(self) -> tuple[Message, ...]:
        """The bodies that a response may have; nearly always one."""
        return (self.api.response, *self.other_responses)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The request and every response."""
        return (self.request, *self.responses)

    def is_reconstructed(self, path: str) -> bool:
        """Return whether a dotted path, or a structure around it, is a reconstruction."""
        return any(path == mark or path.startswith(f"{mark}.") for mark in self.reconstructed)


@dataclass(frozen=True, eq=False)
class Dialect:
    """A protocol: its headers, APIs and errors, and how the core pairs, logs and checks its messages.

    Attributes:
        name: What scenarios (`dialect: NAME`) and `--dialect NAME` call it; the name of its entry point.
        number: The range of its API keys (`barnabas.specs.dialects.keys`), from 1 to LAST_NUMBER. Published
            captures and tables have these keys: never change it. Numbers below 1000 are barnabas' own.
        key_field: The field of the request header with the key of the API.
        version_field: The field of the request header with the version; None if there is none.
        reconstructed: Dotted paths that no source gives, below "request_header"; see `DialectApi`.
        own_response_headers: Headers of responses that begin unlike the others, by API name.
        kafka_apis: Keys of Kafka's APIs that may be sent on the same connection, with Kafka's headers. If
            the headers are Kafka's, all may be.
        registration: The API whose accepted request binds its connection to the group in `group_id`.
        phrases: The words for a log line, by API name.
        pairing: The class that pairs requests and responses, as `module:NAME`; it is a
            `barnabas.captures.kafka.pairing.dialect_pairing.Pairing`.
        checks: A tuple of `barnabas.captures.checks.Check`, as `module:NAME`; empty: none.
        lane_colors: APIs of Kafka whose colours the dialect's have in the lanes of a group, by API name.
        groups: The class that reads what messages say of groups, as `module:NAME`; it is a
            `barnabas.captures.checks.dialect_groups.GroupReader`. Empty: there are no groups.
    """

    name: str
    number: int
    title: str
    document: str
    request_header: Message
    response_header: Message
    key_field: str
    version_field: str | None
    apis: tuple[DialectApi, ...]
    errors: tuple[DialectError, ...]
    reconstructed: tuple[str, ...] = ()
    because: str = ""
    own_response_headers: tuple[tuple[str, Message], ...] = ()
    kafka_apis: frozenset[int] = frozenset()
    registration: str = ""
    phrases: Mapping[str, PhraseRow] = field(default_factory=dict)
    lane_colors: Mapping[str, str] = field(default_factory=dict)
    pairing: str = BY_CORRELATION_ID
    checks: str = ""
    groups: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError if the parts contradict each other."""
        for problems in (_of_numbers, _of_addresses, _of_names, _of_headers):
            for problem in problems(self):
                raise ValueError(problem)

    def api(self, which: int | str) -> DialectApi:
        """Return an API by its key in headers, or by its name in any case.

        Raises:
            LookupError: There is none; the message has the nearest name, or the keys.
        """
        if isinstance(which, int) or which.isdecimal():
            for api in self.apis:
                if api.key == int(which):
                    return api
            keys = ", ".join(str(api.key) for api in self.apis)
            raise LookupError(f"no API of {self.name} has key {which}; the keys are {keys}")
        by_name = {api.name.lower(): api for api in self.apis}
        if which.lower() not in by_name:
            hint = did_you_mean(which, [api.name for api in self.apis])
            raise LookupError(f"no API of {self.name} is called {which!r}{hint}")
        return by_name[which.lower()]

    @property
    def has_kafka_headers(self) -> bool:
        """Return whether the request header is Kafka's, so that all of Kafka's APIs may be sent, too."""
        slots = [slot.name for slot in self.request_header.layout(0).slots]
        return slots == ["api_key", "api_version", "correlation_id", "client_id"]

    @property
    def error_in_header(self) -> bool:
        """Return whether responses have their error in the header, as in Kafka 0.7."""
        return any(slot.name == "error_code" for slot in self.response_header.layout(0).slots)

    def response_header_of(self, api: DialectApi) -> Message:
        """Return the header of an API's responses."""
        return dict(self.own_response_headers).get(api.name, self.response_header)

    def asked_by(self, role: Role) -> tuple[DialectApi, ...]:
        """Return the APIs whose requests a role sends; it responds to all others."""
        return tuple(api for api in self.apis if api.asker == role)


def _of_numbers(dialect: Dialect) -> Iterator[str]:
    """Yield the errors in the numbers of a dialect and of its APIs, and in their versions."""
    if not (isinstance(dialect.number, int) and 1 <= dialect.number <= LAST_NUMBER):
        yield f"the number is {dialect.number!r}; use 1 to {LAST_NUMBER}"
    for api in dialect.apis:
        if not 0 <= api.key <= LAST_KEY:
            yield f"an API has key {api.key}; use 0 to {LAST_KEY}"
    keys, names = {api.key for api in dialect.apis}, {api.name for api in dialect.apis}
    if min(len(keys), len(names)) < len(dialect.apis):
        yield "two APIs have one key or name"
    for api in dialect.apis:
        if api.api.versions[0] != api.api.versions[1]:
            yield f"{api.name} has several versions; an API of a dialect has one"


def _of_addresses(dialect: Dialect) -> Iterator[str]:
    """Yield the paths of addresses that responses lack."""
    for api in dialect.apis:
        if api.addresses is not None:
            above, node = api.addresses
            layout = api.api.response.layout(api.version)
            for path in (f"{above}host", f"{above}port", node):
                if layout.find(path) is None:
                    yield f"addresses of {api.name}: its response has no {path}"


def _of_names(dialect: Dialect) -> Iterator[str]:
    """Yield the names in the tables of a dialect that no API has."""
    named = {dialect.registration, *dialect.phrases, *dialect.lane_colors}
    unknown = named - {"", *(api.name for api in dialect.apis)}
    if unknown:
        yield f"no API is called {', '.join(sorted(unknown))}"


def _of_headers(dialect: Dialect) -> Iterator[str]:
    """Yield the fields that headers lack."""
    for name in filter(None, (dialect.key_field, dialect.version_field)):
        if dialect.request_header.layout(0).find(name) is None:
            yield f"the request header has no field {name}"
    if dialect.pairing == BY_CORRELATION_ID:
        own_headers = (header for _, header in dialect.own_response_headers)
        for header in (dialect.request_header, dialect.response_header, *own_headers):
            if header.layout(0).find("correlation_id") is None:
                yield f"{header.name} has no field correlation_id: name a pairing"
