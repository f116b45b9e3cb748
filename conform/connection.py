"""A connection of a check to a broker: requests by name, responses in order, raw bytes."""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from barnabas.conform.expectations import CODES
from barnabas.conform.operations import Close, Now, Read, Silence, Sleep, Write
from barnabas.conform.response import Request, Response, read_response
from barnabas.conform.verdicts import Evidence, Failed, Skipped
from barnabas.peers.replay.versions import prune
from barnabas.specs.headers import REQUEST_HEADER, request_header_version
from barnabas.specs.registry import api as api_named

CLIENT_ID: Final = "barnabas-conform"

TIMEOUT_S: Final = 10.0
"""How long a response may take, if a check sets no other time."""

SETTLE_S: Final = 10.0
"""How long transient errors are retried."""

TRANSIENT: Final = frozenset(
    (
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "CONCURRENT_TRANSACTIONS",
        "LEADER_NOT_AVAILABLE",
    )
)
"""Errors right after a start or a change, which clients retry."""

Versions = Mapping[str, tuple[int, int]]
"""API name -> oldest and newest version that both the broker and barnabas support."""


class Connection:
    """One connection. Requests without a version use the newest that the broker offers."""

    def __init__(self, number: int, versions: Versions) -> None:
        self.number = number
        self.versions = versions
        self._next = 0
        self._in_flight: deque[Request] = deque()
        self._written = b""
        """The bytes that were written last: the evidence where no response is expected."""

    def version(self, api: str, oldest: int = 0, newest: int = 32767) -> int:
        """Return the newest version in a range that the broker offers.

        Raises:
            Skipped: the broker offers none.
        """
        offered = self.versions.get(api)
        if offered is None:
            raise Skipped(f"the broker does not offer {api}")
        best = min(offered[1], newest)
        if best < max(offered[0], oldest):
            raise Skipped(
                f"the broker offers {api} v{offered[0]} to v{offered[1]}; needed: v{oldest} to v{newest}"
                if newest < 32767
                else f"the broker offers {api} v{offered[0]} to v{offered[1]}; needed: v{oldest} or newer"
            )
        return best

    async def send(self, api: str, version: int | None = None, /, **fields: Any) -> Response:
        """Send a request and return its response; retry transient errors for a while.

        Args:
            api: the API's name, such as "Fetch".
            version: the version; the newest offered if absent.
            fields: fields of the body; others have their default.

        Raises:
            Failed: no response, or an undecodable one.
            Skipped: the broker does not offer the API or version.
        """
        deadline = await Now() + SETTLE_S
        while True:
            await self.write(api, version, **fields)
            response = await self.read()
            if not _transient(response.body) or await Now() > deadline:
                return response
            await Sleep(0.1)

    async def write(self, api: str, version: int | None = None, /, **fields: Any) -> Request:
        """Send a request and do not wait for its response. Arguments are those of `send`."""
        chosen = self.version(api) if version is None else version
        definition = api_named(api)
        body = prune(fields, definition.request.layout(chosen))
        data = definition.request.codec(chosen).encode(body)
        return await self.write_body(api, chosen, data)

    async def write_body(
        self, api: str, version: int, body: bytes, answered_in: int | None = None, **header: Any
    ) -> Request:
        """Send a request with an encoded body.

        Args:
            api: the API's name.
            version: the version in the header, which need not exist.
            body: the encoded body.
            answered_in: the version of the response, if it is another one.
            header: fields of the header other than usual.
        """
        key = api_named(api).key
        correlation_id = header.setdefault("correlation_id", self._next)
        self._next += 1
        fields = {
            "request_api_key": key,
            "request_api_version": version,
            "client_id": CLIENT_ID,
            **header,
        }
        header_version = request_header_version(key, version)
        header_fields = prune(
            fields, REQUEST_HEADER.layout(header_version)
        )  # version 0 has no client id
        frame = REQUEST_HEADER.codec(header_version).encode(header_fields) + body
        response_version = version if answered_in is None else answered_in
        request = Request(api, response_version, correlation_id, frame)
        self._in_flight.append(request)
        await self.raw(struct.pack(">i", len(frame)) + frame)
        return request

    def expected(self, api: str, version: int, data: bytes) -> None:
        """Expect a response to a request that `raw` sends, with its size: `read` decodes it."""
        correlation_id = int.from_bytes(data[8:12], "big", signed=True)
        self._in_flight.append(Request(api, version, correlation_id, data[4:]))

    def unanswered(self) -> None:
        """Expect no response to the request that was written last (Produce with acks=0)."""
        self._in_flight.pop()

    async def raw(self, data: bytes) -> None:
        """Send bytes as they are, with their size."""
        self._written = data
        await Write(self.number, data)

    async def read(self, seconds: float = TIMEOUT_S) -> Response:
        """Return the response of the oldest request in flight.

        Raises:
            Failed: the broker closes the connection, stays silent, or sends something else.
        """
        request = self._in_flight.popleft()
        what = f"response to {request.api} v{request.version}"
        evidence = Evidence(request.api, request.version, request.frame, None)
        try:
            frame = await Read(self.number, seconds)
        except Silence:
            raise Failed(what, f"a response within {seconds:g} s", "nothing", evidence) from None
        return self._response(request, frame)

    @staticmethod
    def _response(request: Request, frame: bytes | None) -> Response:
        if frame is None:
            evidence = Evidence(request.api, request.version, request.frame, None)
            what = f"response to {request.api} v{request.version}"
            raise Failed(what, "a response", "connection closed", evidence)
        return read_response(request, frame)

    async def response_within(self, seconds: float) -> Response | None:
        """Return the response of the oldest request in flight, or None if the broker waits longer.

        The request stays in flight after None. Raises what `read` raises otherwise.
        """
        request = self._in_flight.popleft()
        try:
            frame = await Read(self.number, seconds)
        except Silence:
            self._in_flight.appendleft(request)
            return None
        return self._response(request, frame)

    async def expect_closed(self, seconds: float = TIMEOUT_S) -> None:
        """Expect that the broker closes the connection without a response.

        Raises:
            Failed: the broker responds, or leaves the connection open.
        """
        try:
            frame = await Read(self.number, seconds)
        except Silence:
            received = f"open after {seconds:g} s"
            raise Failed("connection", "closed", received, self._bytes()) from None
        if frame is not None:
            received = f"a response of {len(frame)} bytes"
            raise Failed("connection", "closed", received, self._bytes(frame))

    async def expect_silence(self, seconds: float) -> None:
        """Expect neither a response nor a close for some seconds. Raises Failed."""
        try:
            frame = await Read(self.number, seconds)
        except Silence:
            return
        received = "connection closed" if frame is None else f"a response of {len(frame)} bytes"
        raise Failed("connection", f"nothing for {seconds:g} s", received, self._bytes(frame))

    def _bytes(self, response: bytes | None = None) -> Evidence:
        """Return the bytes that were written last, and what the broker sent."""
        return Evidence("", 0, self._written[4:], response)

    async def close(self) -> None:
        """Close the connection."""
        await Close(self.number)


def _transient(value: Any) -> bool:
    """Return whether a body has an error that clients retry right after a start."""
    if isinstance(value, Mapping):
        return any(
            item in _TRANSIENT_CODES if name == "error_code" else _transient(item)
            for name, item in value.items()
        )
    return isinstance(value, list) and any(map(_transient, value))


_TRANSIENT_CODES: Final = frozenset(CODES[name] for name in TRANSIENT)
