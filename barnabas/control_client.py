"""The other end of the control port: requests to a running proxy, with the standard library alone."""

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
"""Seconds without a byte; a stream has one every 15."""


class Refused(Exception):
    """What was asked for was not done, and why, in one line."""


class Unreachable(Exception):
    """Nobody can be asked, or the proxy failed, and why, in one line."""


@dataclass(frozen=True, slots=True)
class Client:
    """Where a proxy is controlled."""

    address: tuple[str, int]
    token: str
    timeout: float = TIMEOUT

    @contextlib.contextmanager
    def open(
        self, method: str, path: str, body: bytes | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request; the answer, to be read. path: behind the version. Raises Refused or Unreachable."""
        connection = http.client.HTTPConnection(*self.address, timeout=self.timeout)
        headers = {"Authorization": f"Bearer {self.token}", "Connection": "close"}
        with contextlib.closing(connection):
            try:
                with contextlib.suppress(BrokenPipeError):  # it may refuse before it has read all
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
                    said = str(json.loads(response.read())["error"])
                except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
                    said = f"{self._where} answers {response.status} {response.reason}"
        raise Unreachable(said) if response.status >= 500 else Refused(said)

    def text(self, method: str, path: str, body: bytes | None = None) -> str:
        """Send a request; the text that comes back. Raises Refused or Unreachable."""
        try:
            with self.open(method, path, body) as answer:
                return answer.read().decode()
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise Unreachable(f"{self._where} broke off: {problem}") from None

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Send a request; the JSON that comes back. Raises Refused or Unreachable."""
        try:
            return json.loads(self.text(method, path, body))
        except ValueError:
            raise Unreachable(f"what answers at {self._where} is no proxy") from None

    def events(self, path: str) -> Iterator[tuple[str, Any]]:
        """Server-sent events, name and data, until the event `end`. Raises Refused, Unreachable."""
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
                raise Unreachable(f"the stream broke off: {problem}") from None
        raise Unreachable("the stream broke off: the proxy is gone")

    @property
    def _where(self) -> str:
        return endpoint_text(self.address)
