"""How a draft is declared: its headers, its APIs, who asks whom, and what is a reconstruction.

The layouts are those of `barnabas.specs.declaration`, in the classic encoding: strings have an int16 length,
arrays an int32 count. Every frame has an int32 size in front, which does not count itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from barnabas.nearest import did_you_mean
from barnabas.specs.message import Api, Message

Role = Literal["consumer", "broker", "coordinator"]
"""Who stands at an end. A coordinator is a broker that coordinates the group in question."""


class DraftError(NamedTuple):
    """An error code of a draft: its name in the document, and the number it has here.

    `reconstructed` is what no source gives: "name", "code", both or neither.
    """

    code: int
    name: str
    source: str
    reconstructed: tuple[Literal["name", "code"], ...] = ()


@dataclass(frozen=True, eq=False)
class DraftApi:
    """One API of a draft: the layouts, who asks whom, where it is documented and what is not.

    `reconstructed` holds dotted paths: "key" (the number in the header), "version", "request" or
    "response" for a whole layout, "request.field" for one field and all that is inside. `because`
    gives the reasons. `other_responses` is for an API with several responses, which nothing in the
    frame tells apart.
    """

    api: Api
    asker: Role
    answerer: Role
    source: str
    reconstructed: tuple[str, ...] = ()
    because: str = ""
    other_responses: tuple[Message, ...] = ()

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
        """The only version that the draft has."""
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
        """Whether a dotted path, or something around it, is a reconstruction.

        >>> from barnabas.specs.drafts import draft
        >>> draft("rewrite-a").api("JoinGroup").is_reconstructed("response.partitions_to_own.topic")
        True
        """
        return any(path == mark or path.startswith(f"{mark}.") for mark in self.reconstructed)


@dataclass(frozen=True, eq=False)
class Draft:
    """One design: how its frames begin, which APIs it has, and the document it is from.

    `key_field` and `version_field` are the fields of the request header that name the API and its
    version. `own_response_headers` is for the APIs whose response does not begin like the others.
    `reconstructed` holds dotted paths as DraftApi's does, below "request_header".
    """

    name: str
    title: str
    document: str
    request_header: Message
    response_header: Message
    key_field: str
    version_field: str | None
    apis: tuple[DraftApi, ...]
    errors: tuple[DraftError, ...]
    reconstructed: tuple[str, ...] = ()
    because: str = ""
    own_response_headers: tuple[tuple[str, Message], ...] = ()

    def api(self, which: int | str) -> DraftApi:
        """One API, by key or by name in any case. Raises LookupError, with the nearest name."""
        if isinstance(which, int) or which.isdecimal():
            for api in self.apis:
                if api.key == int(which):
                    return api
            keys = ", ".join(str(api.key) for api in self.apis)
            raise LookupError(f"no API of {self.name} has key {which}; the keys are {keys}")
        names = {api.name.lower(): api for api in self.apis}
        return names[nearest(which, names, f"no API of {self.name} is called")]

    @property
    def has_kafkas(self) -> bool:
        """Whether its headers are Kafka's, so that Kafka's own APIs may stand beside its own."""
        names = [slot.name for slot in self.request_header.layout(0).slots]
        return names == ["api_key", "api_version", "correlation_id", "client_id"]

    def response_header_of(self, api: DraftApi) -> Message:
        """The header of an API's responses."""
        return dict(self.own_response_headers).get(api.name, self.response_header)

    def asked_by(self, role: Role) -> tuple[DraftApi, ...]:
        """The APIs whose requests this role sends; all others it can only answer."""
        return tuple(api for api in self.apis if api.asker == role)


def nearest(which: str, names: dict[str, DraftApi] | dict[str, Draft], problem: str) -> str:
    """The key of a table of lower-case names. Raises LookupError with the nearest name."""
    if which.lower() in names:
        return which.lower()
    hint = did_you_mean(which, [known.name for known in names.values()])
    raise LookupError(f"{problem} {which!r}{hint}")
