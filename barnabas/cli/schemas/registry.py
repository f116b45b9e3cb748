"""A schema registry (Confluent's API, which Apicurio and Karapace have, too), asked once for each schema.

GET /schemas/ids/ID or /schemas/guids/GUID, then /subjects/SUBJECT/versions/VERSION for what that refers to.
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
from barnabas.cli.schemas.compiling import MAX_TEXT, compiled
from barnabas.cli.schemas.cutting import opening

TIMEOUT: Final = 3.0
"""Seconds that the registry has for an answer."""

AGAIN: Final = 10.0
"""Seconds for which an id that is not known, or a registry that is away, is not asked about again."""

KEPT: Final = 1_000
"""Schemas that are kept; and ids that could not be had. Of more, the last ones."""

WAITING: Final = 100
"""Ids that wait to be asked about."""

REFERENCES: Final = 100
"""Schemas that one refers to."""

_LATE: Final = f"no answer within {TIMEOUT:.0f} s"

_ACCEPT: Final = {"Accept": "application/vnd.schemaregistry.v1+json, application/json"}


class Away(Exception):
    """The registry does not answer, and why."""


class Registry:
    """Called with an id, says the schema, or why not. wait: whether that waits for the registry; else a
    thread asks it, and the next one who wants the schema may have it."""

    def __init__(
        self, url: str, *, wait: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises ValueError for what is no URL of http or https."""
        self._url, self._authorization = _parted(url)
        self._wait, self._clock = wait, clock
        self._schemas: OrderedDict[SchemaId, Schema] = OrderedDict()
        self._missing: OrderedDict[SchemaId, tuple[float, str]] = OrderedDict()
        self._away_until, self._away = 0.0, ""
        self._begin()

    def _begin(self) -> None:
        """Threads and locks are those of one process."""
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._asked: OrderedDict[SchemaId, None] = OrderedDict()
        self._running = False

    def __call__(self, number: SchemaId) -> Schema | str:
        """The schema, or why it is not known (yet)."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            found = self._known(number)
            if found is not None:
                return found
            if not self._wait:
                if len(self._asked) < WAITING:
                    self._asked[number] = None
                self._start()
                return "not fetched yet"
        self._fetch(number)
        with self._lock:
            return self._known(number) or "not fetched yet"

    def _start(self) -> None:
        """A thread, unless one runs or the system has no more: then the next one who asks may start it."""
        if not self._running:
            with contextlib.suppress(RuntimeError):
                threading.Thread(target=self._work, name="schemas", daemon=True).start()
                self._running = True

    def _known(self, number: SchemaId) -> Schema | str | None:
        """What is known of it now; None: nothing."""
        if number in self._schemas:
            self._schemas.move_to_end(number)
            return self._schemas[number]
        now = self._clock()
        until, why = self._missing.get(number, (0.0, ""))
        if now < until:
            return why
        return self._away if now < self._away_until else None

    def _work(self) -> None:
        """Until all that was asked for is there, or is known not to be."""
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
                self._away = f"the registry is away: {problem}"
                self._away_until = self._clock() + AGAIN
            return
        except Exception as problem:  # noqa: BLE001 - what a stranger's schema does costs that schema only
            why = str(problem) if isinstance(problem, Unread) else f"no schema: {problem!r}"[:200]
            with self._lock:
                _keep(self._missing, number, (self._clock() + AGAIN, why))
            return
        with self._lock:
            self._missing.pop(number, None)
            _keep(self._schemas, number, schema)

    def _schema(self, number: SchemaId) -> Schema:
        """Raises Unread, Away."""
        where = f"ids/{number}" if isinstance(number, int) else f"guids/{number}"
        found = self._get(f"/schemas/{where}")
        references: dict[str, str] = {}
        self._refer(found, references)
        return compiled(_field(found, "schemaType", "AVRO"), _field(found, "schema"), references)

    def _refer(self, found: dict[str, Any], references: dict[str, str]) -> None:
        """Add what a schema refers to, by name."""
        for one in found.get("references") or ():
            name = _field(one, "name")
            if name in references:
                continue
            if len(references) == REFERENCES:
                raise Unread(f"it refers to more than {REFERENCES} schemas")
            subject, version = quote(_field(one, "subject"), safe=""), one.get("version")
            if not isinstance(version, int):
                raise Unread("the registry's answer has no version of a reference")
            other = self._get(f"/subjects/{subject}/versions/{version}")
            references[name] = _field(other, "schema")
            self._refer(other, references)

    def _get(self, path: str) -> dict[str, Any]:
        until = time.monotonic() + TIMEOUT
        request = urllib.request.Request(self._url + path, headers=_ACCEPT)  # noqa: S310
        if self._authorization:  # for this registry alone, wherever it sends us
            request.add_unredirected_header("Authorization", self._authorization)
        try:
            with opening(TIMEOUT) as opener, opener.open(request, timeout=TIMEOUT) as answer:
                data = b""
                while chunk := answer.read1(1 << 16):
                    data += chunk
                    if len(data) > 2 * MAX_TEXT:
                        raise Unread("the registry's answer is too long")
            if time.monotonic() > until:  # it was cut off
                raise Away(_LATE)
        except urllib.error.HTTPError as problem:
            problem.close()
            if problem.code == 404:
                raise Unread("the registry has none of this id") from None
            raise Away(f"HTTP {problem.code}") from None
        except (HTTPException, OSError) as problem:
            # a connection that is cut ends, or is reset if the registry sends more
            raise Away(_LATE if time.monotonic() > until else _why(problem)) from None
        found = read_json(data)
        if not isinstance(found, dict):
            raise Unread("the registry's answer is no schema")
        return found


def _parted(url: str) -> tuple[str, str]:
    """The URL without name and password, and the header that has them."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("give http://HOST:PORT, https://HOST:PORT or a folder")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), authorization


def _field(found: Any, name: str, default: str | None = None) -> str:
    value = found.get(name, default) if isinstance(found, dict) else None
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


def _keep(found: OrderedDict[SchemaId, Any], number: SchemaId, value: Any) -> None:
    found[number] = value
    found.move_to_end(number)
    if len(found) > KEPT:
        found.popitem(last=False)
