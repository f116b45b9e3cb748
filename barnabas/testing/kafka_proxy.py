"""The proxy between a test's clients and its cluster, and queries about the exchanges that passed it."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any, Final, Unpack
from urllib.parse import urlencode

from barnabas.control_client import Client, Refused, Unreachable
from barnabas.plural import plural
from barnabas.testing.exchange import Exchange, Row
from barnabas.testing.process import LOOK, Ended, Process, running
from barnabas.testing.retries import Retry, retries
from barnabas.testing.scenario import Rule, Scenario, Source, written
from barnabas.testing.selection import ExchangeQuery, described, selection
from barnabas.testing.sequences import DuplicateSequence, duplicate_sequences
from barnabas.testing.timeout_message import timeout_message

TIMEOUT: Final = 10.0
"""The default timeout in seconds."""

DYING: Final = 1.0
"""Seconds from the first sign of a process' end to its end."""


class NotSeen(AssertionError):
    """Too few of the expected exchanges passed in time; the message lists the exchanges that did pass."""


class Incomplete(RuntimeError):
    """Exchanges passed that were not logged, so that no statement about all exchanges is possible."""


class KafkaProxy:
    """A proxy in its own process, made by `start_proxy`. Its methods may be called from any thread."""

    def __init__(self, process: Process, cluster: str, folder: Path, base: Path) -> None:
        self.bootstrap_server: str = process.ready["listen"]
        """HOST:PORT for clients."""
        self.cluster = cluster
        """The bootstrap servers of the cluster."""
        self.folder = folder
        """The folder of the proxy's files."""
        self.capture = folder / "capture.pcapng"
        self.scenario = Scenario(self._ask, base)
        """The rules, which a test may replace and add."""
        self.process = process
        self._rules: list[Row] = []
        self._since = 0
        """The number of exchanges that queries leave out."""
        host, _, port = process.ready["control"].rpartition(":")
        self._client = Client((host, int(port)), process.ready["token"], TIMEOUT)

    def __repr__(self) -> str:
        return f"<proxy at {self.bootstrap_server}>"

    # queries

    def since(self) -> KafkaProxy:
        """Return this proxy without the exchanges so far, for one of several tests that share it.

        Raises Ended, Unreachable.
        """
        view = copy(self)
        view._since = self._look({})["over"]
        return view

    def exchanges(self, **query: Unpack[ExchangeQuery]) -> list[Exchange]:
        """Return the exchanges so far that meet all conditions, in the order in which they ended.

        The list contains every exchange that was over before the call: each whose response a client has
        received, and each of a connection whose end the proxy has seen.

        Raises:
            ValueError: There is no such API, error or column.
            Incomplete: Exchanges are missing in the log.
            Ended: The proxy has exited.
        """
        __tracebackhide__ = True
        checked = self._look(query)
        if checked["lost"]:
            raise Incomplete(
                f"{plural(checked['lost'], 'exchange')} passed faster than they could be logged: "
                "what is left says nothing about all of them"
            )
        selected = selection(query, checked)
        rows = islice(self._rows(checked["over"]), self._since, None)
        return [each for row in rows if (each := selected(row)) is not None]

    def wait_for(
        self, count: int = 1, *, timeout: float = TIMEOUT, **query: Unpack[ExchangeQuery]
    ) -> list[Exchange]:
        """Wait until `count` exchanges since the start meet all conditions; return them.

        It blocks its thread: in a coroutine, `await asyncio.to_thread(...)`.

        Args:
            count: The number of exchanges.
            timeout: Seconds to wait.
            query: The conditions, as for `exchanges`.

        Raises:
            NotSeen: The time is up; the message lists the exchanges that passed.
            ValueError: There is no such API, error or column.
            Incomplete: Exchanges are missing in the log.
            Ended: The proxy has exited.
        """
        __tracebackhide__ = True
        end = time.monotonic() + timeout
        selected = selection(query, self._look(query))
        matching: list[Exchange] = []
        passed = 0
        with closing(self._log()) as log:
            while len(matching) < count:
                row = next(log)
                if row is not None:
                    passed += 1
                    if passed > self._since and (exchange := selected(row)) is not None:
                        matching.append(exchange)
                    continue
                if time.monotonic() > end:
                    if len(late := self.exchanges(**query)) >= count:
                        return late  # they had passed and were not logged yet
                    expected, all_passed = f"{count} with {described(query)}", self.exchanges()
                    waiting = self._ask("GET", "/connections")
                    raise NotSeen(
                        timeout_message(
                            expected, len(matching), timeout, len(all_passed), all_passed, waiting
                        )
                    )
                time.sleep(LOOK)
        return matching

    def retries(self, *, api: str | None = None, client_id: str | None = None) -> list[Retry]:
        """Return the requests that a client sent again after an error or without a response.

        See `retries.retries`. client_id: A glob. Raises Unreadable, and the errors of `exchanges`.
        """
        query: ExchangeQuery = {}
        if api is not None:
            query["api"] = api
        if client_id is not None:
            query["client_id"] = client_id
        return retries(self.exchanges(**query))

    def duplicate_sequences(self) -> list[DuplicateSequence]:
        """Return the batches that the cluster's log contains twice: see `sequences.duplicate_sequences`.

        Raises Unreadable, and the errors of `exchanges`.
        """
        return duplicate_sequences(self.exchanges(api="Produce"))

    def rule(self, name: str) -> Rule:
        """Return a rule of the scenario by its name. Raises LookupError."""
        return self.scenario.rule(name)

    def rule_rows(self) -> list[Row]:
        """Return the counters of each rule; after the proxy has stopped, the last known ones."""
        with suppress(Ended, Unreachable):
            self._rules = self._ask("GET", "/scenario")["rules"]
        return self._rules

    # the control port and the log

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        __tracebackhide__ = True
        try:
            return self._client.ask(method, path, body)
        except Unreachable as problem:
            unreachable = str(problem)
        self.process.check(wait=DYING)
        raise Unreachable(unreachable)

    def _look(self, query: ExchangeQuery) -> Row:
        """Ask the proxy how many exchanges are over and lost, and have it validate the conditions."""
        parameters = {"api": query.get("api"), "error": query.get("error")}
        parameters["filter"] = query.get("where")
        __tracebackhide__ = True
        encoded = urlencode(
            {name: value for name, value in parameters.items() if value is not None}
        )
        try:
            response: Row = self._ask("GET", f"/log?{encoded}")
        except Refused as problem:
            raise ValueError(str(problem)) from None
        return response

    def _log(self) -> Generator[Row | None, None, None]:
        """Yield the rows of the log; None while there is no further row. Raises Ended."""
        __tracebackhide__ = True
        with self.process.out.open("rb") as log:
            log.readline()  # the ready line
            while True:
                line = log.readline()
                if line.endswith(b"\n"):
                    yield json.loads(line)
                    continue
                log.seek(-len(line), 1)
                self.process.check()
                yield None

    def _rows(self, count: int) -> Iterator[Row]:
        """Yield the first `count` rows of the log, waiting for those that are not written yet.

        Raises:
            Incomplete: The log stops growing.
        """
        __tracebackhide__ = True
        total, end = count, time.monotonic() + TIMEOUT
        with closing(self._log()) as log:
            while count:
                row = next(log)
                if row is not None:
                    count -= 1
                    yield row
                    end = time.monotonic() + TIMEOUT
                    continue
                if time.monotonic() > end:
                    raise Incomplete(
                        f"{total - count} of {plural(total, 'exchange')} that are over are logged, and no"
                        f" more in {TIMEOUT:g} s, perhaps since the machine is busy: ask again, or read"
                        f" them with barnabas decode {self.capture}"
                    )
                time.sleep(LOOK)


@contextmanager
def start_proxy(
    bootstrap_server: str,
    folder: Path,
    *,
    scenario: Source | None = None,
    base: Path | None = None,
    options: Sequence[str] = (),
) -> Iterator[KafkaProxy]:
    """Start a proxy in front of a cluster, and stop it at the end of `with`.

    Args:
        bootstrap_server: The cluster, HOST:PORT[,...].
        folder: An empty folder for the proxy's files.
        scenario: The rules: a file, a name, YAML or a mapping.
        base: The folder of a scenario's relative path; None: the current folder.
        options: Further options of `barnabas proxy`.

    Raises:
        Ended: The proxy did not start, or exited before the end; the message has its last lines.
        WrongScenario: The scenario is invalid.
    """
    base = base or Path.cwd()
    rules: tuple[str, ...] = ()
    if scenario is not None:
        source = written(scenario, base)
        if isinstance(source, str):
            text, source = source, folder / "scenario.yaml"
            source.write_text(text, "utf-8")
        rules = ("--scenario", str(source))
    arguments = (
        *("proxy", "--bootstrap-server", bootstrap_server, "--listen", "127.0.0.1:0"),
        *("--control", "127.0.0.1:0", "--log", "json", "--bodies", "full", "--drain", "0s"),
        *("--capture", str(folder / "capture.pcapng"), *rules, *options),
    )
    with running(arguments, folder, "exchanges") as process:
        proxy = KafkaProxy(process, bootstrap_server, folder, base)
        yield proxy
        proxy.rule_rows()
