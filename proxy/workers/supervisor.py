"""Accepts clients and hands them to workers, and passes a person's commands to all workers."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest
from itertools import chain
from operator import attrgetter
from typing import Any, Final, cast

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.live.capture_ring import CapturePump
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.control.omissions import WAITING, NoAnswer
from barnabas.proxy.control.target import Refused
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.announcement import announce
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.drain import FLUSH
from barnabas.proxy.network.listeners import Client, Listeners, Reports
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Connection, Report, merged
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.surroundings import ALONE
from barnabas.proxy.rules.outcome import outcome
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.lint import dependence
from barnabas.proxy.scenario.lint.notes import remarks
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.workers.channel import Caller
from barnabas.proxy.workers.loads import Loads
from barnabas.proxy.workers.pool import Hooks, Pool
from barnabas.proxy.workers.worker import Channels, Worker, WorkerContext
from barnabas.specs.frames import Direction

LOOK: Final = 1.0
"""Seconds between two requests for reports: if a worker ends, its latest report counts."""

ROOM: Final = 0.01
"""Seconds until a client is offered again, if no worker had room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """The settings of a proxy's workers."""

    make: Callable[[WorkerContext], Proxy]
    """Makes a worker's proxy, in its process."""
    count: int
    keep: Sequence[int] = ()
    """The descriptors that workers need in addition to their own."""
    observed: Callable[[], bool] = lambda: False
    """Returns whether all exchanges are shown now."""


class Supervisor:
    """A proxy of several processes, and a `Target`. All methods belong to the loop that made it."""

    def __init__(
        self,
        options: Options,
        rules: Rules,
        plan: WorkerPlan,
        say: Callable[[str], None],
        capture: CapturePump | None = None,
    ) -> None:
        self.options = options
        self.rules = rules
        self._plan = plan
        self._say = say
        self._capture = capture
        self._tally = ApiStats()
        """The errors in exchanges that were shown."""
        self._totals = Totals()
        self._listeners = Listeners(
            options,
            lambda: self.rules,
            self._totals,
            Reports(self._take, self._keep_note, say),
            ALONE,
        )
        self._to_fire: Counter[str] = Counter()
        """The number of matches of each rule that must fire, whatever `when` says."""
        self._waiting: deque[Client] = deque()
        """The clients for which no worker had room."""
        self._draining = False
        self._replacing = asyncio.Lock()
        self._pool: Pool
        self._looking: asyncio.Task[None]

    # start and stop

    async def start(self) -> None:
        """Listen, and fork the workers.

        Raises:
            OSError: The address is unavailable.
        """
        for line in (*self.options.explain(), *remarks(self.rules.scenario)):
            self._say(line)
        self._listeners.start()
        answers: dict[str, Callable[..., Any]] = {
            "listen": self._listen,
            "broker": self._listeners.topology.broker,
            "ordinal": self._listeners.ordinal,
            "claim": self._claim,
        }
        self._pool = Pool(
            self._plan.count,
            self._plan.keep,
            Hooks(
                work=self._work,
                answers=answers,
                begun=self._worker_begun,
                lost=self._connections_lost,
                say=self._say,
            ),
        )
        self._say_alone()
        self._looking = asyncio.get_running_loop().create_task(self._look())
        if self._capture is not None:
            self._capture.start()
            watch(self._capture, asyncio.get_running_loop(), self._say)

    @property
    def address(self) -> Address:
        """Return the address at which clients find the bootstrap broker."""
        return self._listeners.address

    @property
    def open(self) -> int:
        """Return the number of open connections."""
        return sum(map(self._pool.loads.of, range(self._plan.count)))

    def stop_listening(self) -> None:
        """Close the listeners: further clients are refused."""
        self._listeners.close()

    async def stop(self) -> None:
        """Stop listening, let exchanges under way finish for a while, and close everything."""
        self.stop_listening()
        self._draining = True
        self._listeners.forget()
        for client in self._waiting:
            client.socket.close()
        self._waiting.clear()
        self._looking.cancel()
        await self._pool.stop(self.options.drain + FLUSH)
        if self._capture is not None:
            self._capture.close()
            say_closed(self._capture, self._say)

    def hurry(self) -> None:
        """End the remaining time of exchanges under way, while the proxy stops."""
        self._pool.begin(self._pool.all("hurry"))

    # commands

    async def report(self) -> Report:
        """Return the merged counts and states of all workers; the last known ones of a silent worker."""
        await self._pool.look()
        report = Report(
            tally=self._tally,
            totals=self._totals,
            draining=self._draining,
            observed=self._plan.observed(),
            nodes=tuple(self._listeners.topology.nodes.values()),
            rules=tuple(map(outcome, self.rules.rules)),
            struck=self.rules.struck,
            capture=None if self._capture is None else self._capture.state,
        )
        total = merged(report, self._pool.reports)
        rules = [replace(rule, forced=self._to_fire[rule.name]) for rule in total.rules]
        return replace(total, rules=tuple(rules), missing=self._pool.silent)

    def shown(self, exchange: Exchange) -> None:
        """Count the error of an exchange that the log or the control port shows."""
        if (error := exchange.error) is not None:
            self._tally.error(exchange.key, error)

    @property
    def scenario(self) -> Scenario | None:
        """Return the scenario in force."""
        return self.rules.scenario

    async def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules, see `Proxy.replace`.

        Raises:
            Refused: The rules need one worker, and others have connections.
        """
        alone = _needs_one_worker(scenario)
        if alone and any(map(self._pool.loads.of, range(1, self._plan.count))):
            raise Refused(
                f"{alone}, and connections are open in several workers: start with --workers 1"
            )
        async with self._replacing:  # in all workers in the same order
            before, began = self.rules, clock()
            self.rules = Rules(scenario, before)
            self.rules.began = began
            retained = self.rules.shared(before)
            for rule in set(self._to_fire) - retained:
                del self._to_fire[rule]
            self._pool.keep(retained)
            comment = announce(self.rules, before, by, self._say)
            self._keep_note(comment, began)
            # this note comes first, since each worker notes when it has adopted the scenario
            await self._pool.one("note", comment, began)
            await self._pool.all("adopt", scenario.meta()["scenario"], began)
            self._say_alone()

    async def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, in any worker.

        Raises:
            LookupError: There is no such rule.
        """
        self.rules.rule(rule)
        self._to_fire[rule] += 1
        self.note({"barnabas": "fire", "rule": rule})
        await self._pool.all("arm", rule, self._to_fire[rule])

    async def release(self, rule: str) -> None:
        """Release the messages that a rule holds, in all workers.

        Raises:
            LookupError: There is no such rule.
        """
        self.rules.rule(rule)
        self.note({"barnabas": "release", "rule": rule})
        await self._pool.all("release", rule)

    async def waiting(self) -> list[HaltedMessage]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies.

        Raises:
            NoAnswer: A worker does not answer.
        """
        messages, silent = await self._pool.ask("waiting")
        if silent:
            raise NoAnswer(silent)
        return nsmallest(WAITING, chain.from_iterable(messages), key=attrgetter("since"))

    async def message(self, id: str) -> HaltedMessage:
        """Return a waiting message with its body.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        return cast(HaltedMessage, await self._ask_owner("message", id))

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Apply the rule of a scenario to a waiting message; "" lets the message leave unchanged.

        Returns:
            Descriptions of the effects.

        Raises:
            LookupError: No message with this id waits (any longer).
            Refused: The rule cannot be applied to the message.
        """
        return cast(Sequence[str], await self._ask_owner("decide", id, scenario))

    async def pause(self, number: int) -> Connection:
        """Stop reading from both sides of a connection.

        Raises:
            LookupError: There is no such connection.
        """
        return await self._connection("pause", number)

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it arrives.

        Raises:
            LookupError: There is no such connection.
            Refused: The connection is not paused.
        """
        return await self._connection("step", number, direction)

    async def resume(self, number: int) -> Connection:
        """Read from both sides again.

        Raises:
            LookupError: There is no such connection.
        """
        return await self._connection("resume", number)

    async def close(self, number: int) -> Connection:
        """Close both sides.

        Raises:
            LookupError: There is no such connection.
        """
        return await self._connection("close", number)

    async def _connection(self, name: str, number: int, *args: Any) -> Connection:
        return cast(Connection, await self._ask_owner(name, number, *args))

    async def _ask_owner(self, name: str, *args: Any) -> Any:
        """Return the result of the one worker that has the message or connection.

        Raises LookupError, Refused, NoAnswer.
        """
        results, silent = await self._pool.ask(name, *args)
        for each in results:
            if isinstance(each, Refused):
                raise each
            if not isinstance(each, LookupError):
                return each
        if silent:
            raise NoAnswer(silent)
        raise LookupError(args[0])

    def note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """Write a note to capture and live stream, in order; one of the workers writes it."""
        now = clock() if now is None else now
        self._keep_note(comment, now)
        self._pool.begin(self._pool.one("note", comment, now))

    def _keep_note(self, comment: dict[str, Any], now: int | None = None) -> None:
        if self._capture is not None:
            self._capture.keep(clock() if now is None else now, comment)

    # clients

    def _take(self, client: Client) -> None:
        self._waiting.append(client)
        if len(self._waiting) == 1:
            self._hand()

    def _hand(self) -> None:
        """Hand over the waiting clients, in their order, while there is room."""
        alone = bool(_needs_one_worker(self.scenario))
        while self._waiting:
            if not self._pool.hand(self._waiting[0], alone):
                asyncio.get_running_loop().call_later(ROOM, self._hand)
                return
            self._waiting.popleft()

    def _say_alone(self) -> None:
        if self._plan.count > 1 and (reason := _needs_one_worker(self.scenario)):
            self._say(f"workers: {reason}: worker 1 takes all connections")

    # workers

    def _work(self, worker: int, ends: Channels, loads: Loads) -> None:
        """Run a worker, in its process."""
        Worker(
            ends,
            self.rules.scenario,
            self.rules.began,
            self._plan.make,
            partial(loads.took, worker),
            partial(loads.opened, worker),
        ).run()

    def _worker_begun(self, caller: Caller) -> None:
        for rule, times in self._to_fire.items():
            self._pool.begin(caller.call("arm", rule, times))

    def _connections_lost(self, connections: int) -> None:
        self._totals.lost += connections

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self._pool.look()

    def _listen(self, kind: Any, id: int, upstream: Address) -> Address:
        topology = self._listeners.topology
        return topology.place(topology.node(kind, id, upstream))

    def _claim(self, rule: str) -> tuple[bool, int]:
        """Return whether a rule may still fire on demand, and how often after this."""
        granted = self._to_fire[rule] > 0
        self._to_fire[rule] -= granted
        return granted, self._to_fire[rule]


def _needs_one_worker(scenario: Scenario | None) -> str:
    """Return why one worker must have all connections; "" if it need not."""
    for name, reason in dependence.check(scenario) if scenario is not None else ():
        return f"rule {name!r} depends on other connections {reason}"
    return ""
