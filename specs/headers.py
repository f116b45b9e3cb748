"""The headers before every body, and the header version of each message.

Layout: RequestHeader.json and ResponseHeader.json of Apache Kafka. Exceptions: KIP-511 (ApiVersions) and
ApiKeys.java (ControlledShutdown).
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.specs.codec import Codec
from barnabas.specs.declaration import Int16, Int32, NullableString
from barnabas.specs.keys import API_VERSIONS, CONTROLLED_SHUTDOWN
from barnabas.specs.message import Message
from barnabas.specs.registry import NAMES, api

REQUEST_HEADER: Final = Message(
    "request_api_key"     / Int16,
    "request_api_version" / Int16,
    "correlation_id"      / Int32,
    "client_id"           / NullableString.since(1).inflexible(),
).of("RequestHeader", (0, 2), 2)  # fmt: skip

RESPONSE_HEADER: Final = Message(
    "correlation_id" / Int32,
).of("ResponseHeader", (0, 1), 1)


def request_header_version(key: int, version: int) -> int:
    """Return 0 for a header without client id (ControlledShutdown v0), 2 for flexible versions, else 1.

    An unknown API is treated as v1: the first fields of v1 and v2 are the same.

    >>> request_header_version(7, 0), request_header_version(1, 11), request_header_version(1, 12)
    (0, 1, 2)
    """
    if key == CONTROLLED_SHUTDOWN and version == 0:
        return 0
    return 2 if key in NAMES and version >= api(key).flexible else 1


def response_header_version(key: int, version: int) -> int:
    """Return 1 for flexible versions, else 0; ApiVersions always has 0, as no version is negotiated yet.

    >>> response_header_version(18, 3), response_header_version(3, 9), response_header_version(3, 8)
    (0, 1, 0)
    """
    if key == API_VERSIONS:
        return 0
    return 1 if key in NAMES and version >= api(key).flexible else 0


def header_version(direction: str, key: int, version: int) -> int:
    """Return the version of a message's header. `direction` is "request" or "response".

    >>> header_version("request", 1, 12), header_version("response", 1, 11)
    (2, 0)
    """
    if direction == "request":
        return request_header_version(key, version)
    return response_header_version(key, version)


def header_codec(direction: str, key: int, version: int) -> Codec:
    """Return the codec of a message's header."""
    header = REQUEST_HEADER if direction == "request" else RESPONSE_HEADER
    return header.codec(header_version(direction, key, version))


def encode_header(
    direction: str, key: int, version: int, correlation_id: int, client_id: str | None = None
) -> bytes:
    """Return the header of a message, without tags. Raises `barnabas.specs.codec.Unfit`.

    `client_id` is used only if the header has a field for it.

    >>> encode_header("request", 3, 1, 7, "a").hex(" ", -4)
    '00030001 00000007 000161'
    """
    codec = header_codec(direction, key, version)
    fields: dict[str, Any] = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": correlation_id,
        "client_id": client_id,
    }
    return codec.encode({slot.name: fields[slot.name] for slot in codec.layout.slots})
