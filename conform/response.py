"""A decoded response, and expectations of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from barnabas.conform.expectations import Missing, matches, shown, value_at
from barnabas.conform.verdicts import Evidence, Failed
from barnabas.specs.frames import response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was sent."""

    api: str
    version: int
    correlation_id: int
    frame: bytes
    """Without its size."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response, or a part of one below a path."""

    request: Request
    frame: bytes
    body: Mapping[str, Any]
    path: str = ""
    oddities: tuple[str, ...] = ()
    """Bytes that Kafka never writes and other fields do not depend on, such as trailing bytes or a wrong tag.

    The check `served/API` reports them; others read on.
    """

    def at(self, path: str) -> Response:
        """Return the part of the response below a path; expectations name paths from there.

        Raises:
            Failed: the response has no such part.
        """
        whole = self._whole(path)
        if isinstance(value_at(self.body, whole), Missing):
            raise self._missing(path)
        return Response(self.request, self.frame, self.body, whole, self.oddities)

    def whole(self) -> Response:
        """Return the whole response of which this is a part."""
        return Response(self.request, self.frame, self.body, oddities=self.oddities)

    def __getitem__(self, path: str) -> Any:
        """Return a field's value, error codes by name. Raises Failed if there is none."""
        value = value_at(self.body, self._whole(path))
        if isinstance(value, Missing):
            raise self._missing(path)
        return value

    def expect(self, **fields: Any) -> Response:
        """Compare fields with expected values; names of error codes are strings.

        Raises:
            Failed: a field has another value.
        """
        for path, expected in fields.items():
            value = value_at(self.body, self._whole(path))
            if not matches(expected, value):
                raise self.failed(path, shown(expected), shown(value))
        return self

    def _missing(self, path: str) -> Failed:
        """Return the failure of a field that is not there; the nearest error code may be the reason."""
        whole = self._whole(path)
        while whole:
            whole = whole.rpartition(".")[0]
            error = value_at(self.body, f"{whole}.error_code" if whole else "error_code")
            if not isinstance(error, Missing) and error != "NONE":
                received = f"nothing, with error code {error}"
                return self.whole().failed(f"{whole}.error_code".lstrip("."), f"{path}", received)
        return self.failed(path, "a value", "nothing")

    def failed(self, path: str, expected: str, received: str) -> Failed:
        """Return the failure of a field, for conditions of more than one field."""
        whole = self._whole(path)
        what = f"{self.request.api} v{self.request.version} response"
        return Failed(
            f"{what}, {whole}" if whole else what, expected, received, self.evidence(path)
        )

    def evidence(self, path: str) -> Evidence:
        """Return the frames that show a field."""
        request = self.request
        return Evidence(request.api, request.version, request.frame, self.frame, self._whole(path))

    def _whole(self, path: str) -> str:
        return f"{self.path}.{path}" if self.path and path else self.path or path


def read_response(request: Request, frame: bytes) -> Response:
    """Decode a response.

    Raises:
        Failed: no layout reads it, or the correlation id is wrong.
    """
    evidence = Evidence(request.api, request.version, request.frame, frame)
    what = f"{request.api} v{request.version} response"
    correlation_id = int.from_bytes(frame[:4], "big", signed=True)
    if len(frame) < 4 or correlation_id != request.correlation_id:
        raise Failed(
            what, f"correlation id {request.correlation_id}", str(correlation_id), evidence
        )
    definition = api(request.api)
    try:
        offset = response_body(frame, definition.key, request.version)
        body, oddities = definition.response.codec(request.version).inspect(
            frame[offset:], lenient=True
        )
    except Malformed as problem:
        raise Failed(what, "a response that can be decoded", str(problem), evidence) from None
    described = tuple(f"{oddity.path or 'body'}: {oddity.what}" for oddity in oddities)
    return Response(request, frame, body, oddities=described)
