"""A client of a running proxy's control port, which needs only the standard library."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from barnabas.api_version import PREFIX
from barnabas.captures.host_port import endpoint_text

TIMEOUT: Final = 60.0
"""Seconds without a byte from the proxy; a stream sends one every 15 s."""


class Refused(Exception):
    """The control port refused the request; the message is its error."""


class Unreachable(Exception):
    """The control port is unreachable, or the proxy failed."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client of one control port."""

    address: tuple[str, int]
    token: str
    timeout: float = TIMEOUT

    @contextlib.contextmanager
    def open(
        self, method: str, path: str, body: bytes | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request and yield the response, unread.

        path: The path without the API's version.

        Raises:
            Refused: The status is 4xx.
            Unreachable: There is no response, or the status is 5xx.
        """
        connection = http.client.HTTPConnection(*self.address, timeout=self.timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Connection": "close"}
        with contextlib.closing(connection):
            try:
                with contextlib.suppress(
                    BrokenPipeError
                ):  # it may refuse before reading the whole body
                    connection.request(method, PREFIX + path, body, headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as problem:
                line = str(problem).strip() or "it does not answer"
                raise Unreachable(
                    f"no proxy can be controlled at {self._where}: {line}; start it with --control"
                ) from None
            with response:
                if response.status < 400:
                    yield response
                    return
                try:
                    message = str(json.loads(response.read())["error"])
                except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
                    message = f"{self._where} answers {response.status} {response.reason}"
        raise Unreachable(message) if response.status >= 500 else Refused(message)

    def text(self, method: str, path: str, body: bytes | None = None) -> str:
        """Send a request and return the text of the response. Raises Refused or Unreachable."""
        try:
            with self.open(method, path, body) as answer:
                return answer.read().decode()
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise Unreachable(f"lost the connection to {self._where}: {problem}") from None

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Send a request and return the JSON of the response. Raises Refused or Unreachable."""
        try:
            return json.loads(self.text(method, path, body))
        except ValueError:
            raise Unreachable(f"what answers at {self._where} is not a proxy") from None

    def events(self, path: str) -> Iterator[tuple[str, Any]]:
        """Yield server-sent events, (name, data), until the event `end`. Raises Refused or Unreachable."""
        name = ""
        with self.open("GET", path) as stream:
            try:
                for line in stream:
                    field, _, value = line.decode().rstrip("\n").partition(": ")
                    if field == "event":
                        name = value
                        if name == "end":
                            return
                    elif field == "data":
                        yield name, json.loads(value)
            except (OSError, http.client.HTTPException, ValueError) as problem:
                raise Unreachable(f"the stream ended: {problem}") from None
        raise Unreachable("the stream ended: the proxy has stopped")

    @property
    def _where(self) -> str:
        return endpoint_text(self.address)
