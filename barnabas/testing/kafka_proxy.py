"""The proxy that a test talks through, and what it says of what passed."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Unpack
from urllib.parse import urlencode

from barnabas.control_client import Client, Refused, Unreachable
from barnabas.plural import plural
from barnabas.testing.exchange import Exchange, Row
from barnabas.testing.not_seen import not_seen
from barnabas.testing.process import LOOK, Ended, Process, running
from barnabas.testing.retries import Retry, retries
from barnabas.testing.scenario import Rule, Scenario, Source, written
from barnabas.testing.selection import Wanted, described, selection
from barnabas.testing.sequences import DuplicateSequence, duplicate_sequences

TIMEOUT: Final = 10.0
"""Seconds that waiting takes at most."""

DYING: Final = 1.0
"""Seconds from the first sign of a process' end to its end."""


class NotSeen(AssertionError):
    """What was waited for did not pass in time, and what did."""


class Incomplete(RuntimeError):
    """Exchanges passed that were not logged, so nothing can be said of all of them."""


class KafkaProxy:
    """A proxy in a process of its own. Made by `start_proxy`; all methods are for any thread."""

    def __init__(self, process: Process, cluster: str, folder: Path, base: Path) -> None:
        self.bootstrap_server: str = process.ready["listen"]
        """HOST:PORT for clients."""
        self.cluster = cluster
        """What it is in front of."""
        self.folder = folder
        """Where its files are."""
        self.capture = folder / "capture.pcapng"
        self.scenario = Scenario(self._ask, base)
        """Its rules, to be replaced and added to."""
        self.process = process
        self._rules: list[Row] = []
        host, _, port = process.ready["control"].rpartition(":")
        self._client = Client((host, int(port)), process.ready["token"], TIMEOUT)

    def __repr__(self) -> str:
        return f"<proxy at {self.bootstrap_server}>"

    # what passed

    def exchanges(self, **wanted: Unpack[Wanted]) -> list[Exchange]:
        """What has passed so far and is as wanted, in the order in which it ended.

        Every exchange is there that was over before this is called: all that a client has got an
        answer to, and all whose connection the proxy has seen closed. Raises ValueError for an API,
        an error or a column that does not exist, Incomplete, Ended.
        """
        __tracebackhide__ = True
        found = self._look(wanted)
        if found["lost"]:
            raise Incomplete(
                f"{plural(found['lost'], 'exchange')} passed faster than they could be logged: "
                "what is left says nothing about all of them"
            )
        selected = selection(wanted, found)
        return [each for row in self._rows(found["over"]) if (each := selected(row)) is not None]

    def wait_for(
        self, count: int = 1, *, timeout: float = TIMEOUT, **wanted: Unpack[Wanted]
    ) -> list[Exchange]:
        """Wait until so many exchanges that are as wanted have passed since the start; all of them.

        timeout: in seconds. It blocks its thread: in a coroutine, `await asyncio.to_thread(...)`.
        Raises NotSeen, which shows what did pass, and what `exchanges` raises.
        """
        __tracebackhide__ = True
        end = time.monotonic() + timeout
        selected = selection(wanted, self._look(wanted))
        found: list[Exchange] = []
        with closing(self._log()) as log:
            while len(found) < count:
                row = next(log)
                if row is not None:
                    if (exchange := selected(row)) is not None:
                        found.append(exchange)
                    continue
                if time.monotonic() > end:
                    if len(late := self.exchanges(**wanted)) >= count:
                        return late  # they had passed, and were not logged yet
                    what, seen = f"{count} with {described(wanted)}", self.exchanges()
                    waiting = self._ask("GET", "/connections")
                    raise NotSeen(not_seen(what, len(found), timeout, len(seen), seen, waiting))
                time.sleep(LOOK)
        return found

    def retries(self, *, api: str | None = None, client_id: str | None = None) -> list[Retry]:
        """Requests that a client sent again after an error or no response: see `retries.retries`.

        client_id: a glob. Raises what `exchanges` raises, and Unreadable.
        """
        wanted: Wanted = {}
        if api is not None:
            wanted["api"] = api
        if client_id is not None:
            wanted["client_id"] = client_id
        return retries(self.exchanges(**wanted))

    def duplicate_sequences(self) -> list[DuplicateSequence]:
        """Batches that are in the cluster's log twice: see `sequences.duplicate_sequences`.

        Raises what `exchanges` raises, and Unreadable.
        """
        return duplicate_sequences(self.exchanges(api="Produce"))

    def rule(self, name: str) -> Rule:
        """A rule of the scenario by its name. Raises LookupError."""
        return self.scenario.rule(name)

    def rule_rows(self) -> list[Row]:
        """What each rule has done; once the proxy has stopped, had done."""
        with suppress(Ended, Unreachable):
            self._rules = self._ask("GET", "/scenario")["rules"]
        return self._rules

    # how it is known

    def _ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        __tracebackhide__ = True
        try:
            return self._client.ask(method, path, body)
        except Unreachable as problem:
            unreachable = str(problem)
        self.process.check(wait=DYING)
        raise Unreachable(unreachable)

    def _look(self, wanted: Wanted) -> Row:
        """How many exchanges are over, how many of them are lost, and what is wanted, checked."""
        asked = {"api": wanted.get("api"), "error": wanted.get("error")}
        asked["filter"] = wanted.get("where")
        __tracebackhide__ = True
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        try:
            found: Row = self._ask("GET", f"/log?{query}")
        except Refused as problem:
            raise ValueError(str(problem)) from None
        return found

    def _log(self) -> Generator[Row | None, None, None]:
        """Yield the rows of the log; None while there is no other yet. Raises Ended."""
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
        """The first rows of the log, the last of which may still be on their way, one behind the other."""
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
    """Start a proxy in front of a cluster, and stop it at the end.

    folder: for its files, an empty one. base: where a scenario's relative path begins; the present
    directory if None. options: more of `barnabas proxy`. Raises Ended, with its line, if it does not
    start or has ended by itself in the end; WrongScenario.
    """
    base = base or Path.cwd()
    rules: tuple[str, ...] = ()
    if scenario is not None:
        found = written(scenario, base)
        if isinstance(found, str):
            text, found = found, folder / "scenario.yaml"
            found.write_text(text, "utf-8")
        rules = ("--scenario", str(found))
    arguments = (
        *("proxy", "--bootstrap-server", bootstrap_server, "--listen", "127.0.0.1:0"),
        *("--control", "127.0.0.1:0", "--log", "json", "--bodies", "full", "--drain", "0s"),
        *("--capture", str(folder / "capture.pcapng"), *rules, *options),
    )
    with running(arguments, folder, "exchanges") as process:
        proxy = KafkaProxy(process, bootstrap_server, folder, base)
        yield proxy
        proxy.rule_rows()
