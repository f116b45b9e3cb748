"""A client of a schema registry: Confluent's API, which Apicurio and Karapace have, too.

Each schema is fetched once: GET /schemas/ids/ID or /schemas/guids/GUID, then
/subjects/SUBJECT/versions/VERSION for its references.
"""

from __future__ import annotations

import base64
import contextlib
import os
import threading
import time
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Callable
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from barnabas.captures.values.json_value import read_json
from barnabas.captures.values.schema import Schema, SchemaId, Unread
from barnabas.cli.schemas.compiler import MAX_TEXT, compiled
from barnabas.cli.schemas.http_limits import opening

TIMEOUT: Final = 3.0
"""Seconds for a response of the registry."""

AGAIN: Final = 10.0
"""Seconds before an unknown id, or an unavailable registry, is requested again."""

KEPT: Final = 1_000
"""The most schemas, and the most unknown ids, in memory; the oldest ones are dropped."""

WAITING: Final = 100
"""The most ids that wait to be fetched."""

REFERENCES: Final = 100
"""The most references of a schema."""

_LATE: Final = f"no answer within {TIMEOUT:.0f} s"

_ACCEPT: Final = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}


class Away(Exception):
    """The registry is unavailable."""


class Registry:
    """A lookup of schemas by id in a registry.

    wait: Whether a lookup waits for the registry; else a thread fetches the schema for later lookups.
    """

    def __init__(
        self, url: str, *, wait: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare a client. Raises ValueError for a URL that is not http or https."""
        self._url, self._authorization = _parted(url)
        self._wait, self._clock = wait, clock
        self._schemas: OrderedDict[SchemaId, Schema] = OrderedDict()
        self._missing: OrderedDict[SchemaId, tuple[float, str]] = OrderedDict()
        self._away_until, self._away = 0.0, ""
        self._begin()

    def _begin(self) -> None:
        """Make the lock and the queue of this process, which a forked process does not share."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._asked: OrderedDict[SchemaId, None] = OrderedDict()
        self._running = False

    def __call__(self, number: SchemaId) -> Schema | str:
        """Return a schema, or why it is unknown or not fetched yet."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            schema = self._known(number)
            if schema is not None:
                return schema
            if not self._wait:
                if len(self._asked) < WAITING:
                    self._asked[number] = None
                self._start()
                return "not fetched yet"
        self._fetch(number)
        with self._lock:
            return self._known(number) or "not fetched yet"

    def _start(self) -> None:
        """Start a thread unless one runs; if the system has no more threads, a later lookup tries again."""
        if not self._running:
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._work, name="schemas", daemon=True).start()
                self._running = True

    def _known(self, number: SchemaId) -> Schema | str | None:
        """Return the schema or the reason that is known now; None: neither."""
        if number in self._schemas:
            self._schemas.move_to_end(number)
            return self._schemas[number]
        now = self._clock()
        until, reason = self._missing.get(number, (0.0, ""))
        if now < until:
            return reason
        return self._away if now < self._away_until else None

    def _work(self) -> None:
        """Fetch until every requested schema is known or known to be unavailable."""
        while True:
            with self._lock:
                waits = [each for each in self._asked if self._known(each) is None]
                if not waits:
                    self._asked.clear()
                    self._running = False
                    return
            self._fetch(waits[0])
            with self._lock:
                self._asked.pop(waits[0], None)

    def _fetch(self, number: SchemaId) -> None:
        try:
            schema = self._schema(number)
        except Away as problem:
            with self._lock:
                self._away = f"the registry is unavailable: {problem}"
                self._away_until = self._clock() + AGAIN
            return
        except Exception as problem:  # noqa: BLE001 - what a stranger's schema does costs that schema only
            reason = (
                str(problem) if isinstance(problem, Unread) else f"no schema: {problem!r}"[:200]
            )
            with self._lock:
                _keep(self._missing, number, (self._clock() + AGAIN, reason))
            return
        with self._lock:
            self._missing.pop(number, None)
            _keep(self._schemas, number, schema)

    def _schema(self, number: SchemaId) -> Schema:
        """Fetch and compile a schema. Raises Unread, Away."""
        path = f"ids/{number}" if isinstance(number, int) else f"guids/{number}"
        document = self._get(f"/schemas/{path}")
        references: dict[str, str] = {}
        self._refer(document, references)
        return compiled(
            _field(document, "schemaType", "AVRO"), _field(document, "schema"), references
        )

    def _refer(self, document: dict[str, Any], references: dict[str, str]) -> None:
        """Add the texts of a schema's references, by name."""
        for reference in document.get("references") or ():
            name = _field(reference, "name")
            if name in references:
                continue
            if len(references) == REFERENCES:
                raise Unread(f"it refers to more than {REFERENCES} schemas")
            subject, version = (
                quote(_field(reference, "subject"), safe=""),
                reference.get("version"),
            )
            if not isinstance(version, int):
                raise Unread("the registry's answer has no version of a reference")
            other = self._get(f"/subjects/{subject}/versions/{version}")
            references[name] = _field(other, "schema")
            self._refer(other, references)

    def _get(self, path: str) -> dict[str, Any]:
        until = time.monotonic() + TIMEOUT
        request = urllib.request.Request(self._url + path, headers=_ACCEPT)  # noqa: S310
        if self._authorization:  # only for this registry, not after a redirection
            request.add_unredirected_header("Authorization", self._authorization)
        try:
            with opening(TIMEOUT) as opener, opener.open(request, timeout=TIMEOUT) as answer:
                data = b""
                while chunk := answer.read1(1 << 16):
                    data += chunk
                    if len(data) > 2 * MAX_TEXT:
                        raise Unread("the registry's answer is too long")
            if time.monotonic() > until:  # the connection was shut down
                raise Away(_LATE)
        except urllib.error.HTTPError as problem:
            problem.close()
            if problem.code == 404:
                raise Unread("the registry has no schema with this id") from None
            raise Away(f"HTTP {problem.code}") from None
        except (HTTPException, OSError) as problem:
            # after the shutdown the connection ends, or is reset if the registry sends more
            raise Away(_LATE if time.monotonic() > until else _why(problem)) from None
        document = read_json(data)
        if not isinstance(document, dict):
            raise Unread("the registry's answer is not a schema")
        return document


def _parted(url: str) -> tuple[str, str]:
    """Split a URL into the URL without name and password, and the Authorization header with them."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("give http://HOST:PORT, https://HOST:PORT or a folder")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), authorization


def _field(document: Any, name: str, default: str | None = None) -> str:
    value = document.get(name, default) if isinstance(document, dict) else None
    if not isinstance(value, str):
        raise Unread(f"the registry's answer has no {name}")
    return value


def _why(problem: object) -> str:
    """Return the reason for an error of a connection or of HTTP, in one line."""
    if isinstance(problem, HTTPException):
        return type(problem).__name__
    if isinstance(problem, urllib.error.URLError):
        problem = problem.reason
    if isinstance(problem, TimeoutError):
        return _LATE
    text = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return text.partition("\n")[0][:100]


def _keep(values: OrderedDict[SchemaId, Any], number: SchemaId, value: Any) -> None:
    values[number] = value
    values.move_to_end(number)
    if len(values) > KEPT:
        values.popitem(last=False)
