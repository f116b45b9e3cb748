"""Accepts clients and hands them to workers; what a person asks of the proxy it asks of all of them."""

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
from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.control.omissions import WAITING, NoAnswer
from barnabas.proxy.control.target import Refused
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.announcing import announce
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.draining import FLUSH
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
from barnabas.proxy.workers.worker import Ends, Told, Worker
from barnabas.specs.frames import Direction

LOOK: Final = 1.0
"""Seconds between two looks at what workers have counted: of one that dies the last is kept."""

ROOM: Final = 0.01
"""Seconds until a client is offered again, if no worker had room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPlan:
    """The workers of a proxy."""

    make: Callable[[Told], Proxy]
    """Makes a worker's proxy, in its process."""
    count: int
    keep: Sequence[int] = ()
    """Descriptors that workers need in addition to their own."""
    observed: Callable[[], bool] = lambda: False
    """Returns whether somebody shows all exchanges just now."""


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
        """Errors in what was shown."""
        self._totals = Totals()
        self._listeners = Listeners(
            options,
            lambda: self.rules,
            self._totals,
            Reports(self._take, self._keep_note, say),
            ALONE,
        )
        self._to_fire: Counter[str] = Counter()
        """How many matches of each rule are to fire whatever `when` says."""
        self._waiting: deque[Client] = deque()
        """Clients for whom no worker had room."""
        self._draining = False
        self._replacing = asyncio.Lock()
        self._pool: Pool
        self._looking: asyncio.Task[None]

    # its life

    async def start(self) -> None:
        """Listen. Raises OSError if the address can't be had."""
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
                begun=self._begun,
                lost=self._lost,
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
        """Where clients find the bootstrap broker."""
        return self._listeners.address

    @property
    def open(self) -> int:
        """Connections that are open."""
        return sum(map(self._pool.loads.of, range(self._plan.count)))

    def stop_listening(self) -> None:
        """Listen no more: who comes now is refused."""
        self._listeners.close()

    async def stop(self) -> None:
        """Listen no more, let what is under way finish for a while, close everything."""
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
        """Let what is under way have no more time, while the proxy stops."""
        self._pool.begin(self._pool.all("hurry"))

    # what it is asked

    async def report(self) -> Report:
        """What all have counted, and what they are doing; of a worker that does not answer, the last such."""
        await self._pool.look()
        own = Report(
            tally=self._tally,
            totals=self._totals,
            draining=self._draining,
            observed=self._plan.observed(),
            nodes=tuple(self._listeners.topology.nodes.values()),
            rules=tuple(map(outcome, self.rules.rules)),
            struck=self.rules.struck,
            capture=None if self._capture is None else self._capture.state,
        )
        found = merged(own, self._pool.reports)
        rules = [replace(rule, forced=self._to_fire[rule.name]) for rule in found.rules]
        return replace(found, rules=tuple(rules), missing=self._pool.silent)

    def shown(self, exchange: Exchange) -> None:
        """An exchange has passed, and somebody shows it: its error is counted."""
        if (error := exchange.error) is not None:
            self._tally.error(exchange.key, error)

    @property
    def scenario(self) -> Scenario | None:
        """The one that holds."""
        return self.rules.scenario

    async def replace(self, scenario: Scenario, by: str) -> None:
        """As `Proxy.replace`. Raises Refused if only one worker could, and others have connections."""
        alone = _alone(scenario)
        if alone and any(map(self._pool.loads.of, range(1, self._plan.count))):
            raise Refused(
                f"{alone}, and connections are open in several workers: start with --workers 1"
            )
        async with self._replacing:  # in all workers in the same order
            before, began = self.rules, clock()
            self.rules = Rules(scenario, before)
            self.rules.began = began
            same = self.rules.shared(before)
            for rule in set(self._to_fire) - same:
                del self._to_fire[rule]
            self._pool.keep(same)
            comment = announce(self.rules, before, by, self._say)
            self._keep_note(comment, began)
            await self._pool.one("note", comment, began)  # first: each says when it has adopted it
            await self._pool.all("adopt", scenario.meta()["scenario"], began)
            self._say_alone()

    async def fire(self, rule: str) -> None:
        """As `Proxy.fire`: in one of the workers. Raises LookupError."""
        self.rules.rule(rule)
        self._to_fire[rule] += 1
        self.note({"barnabas": "fire", "rule": rule})
        await self._pool.all("arm", rule, self._to_fire[rule])

    async def release(self, rule: str) -> None:
        """As `Proxy.release`. Raises LookupError."""
        self.rules.rule(rule)
        self.note({"barnabas": "release", "rule": rule})
        await self._pool.all("release", rule)

    async def waiting(self) -> list[Waiting]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies.

        Raises NoAnswer.
        """
        found, silent = await self._pool.ask("waiting")
        if silent:
            raise NoAnswer(silent)
        return nsmallest(WAITING, chain.from_iterable(found), key=attrgetter("since"))

    async def message(self, id: str) -> Waiting:
        """One of them, with its body. Raises LookupError."""
        return cast(Waiting, await self._where("message", id))

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Do to one of them what the one rule of a scenario says; "": let it go. Returns what was done, in
        words. Raises LookupError, Refused if it can't be done."""
        return cast(Sequence[str], await self._where("decide", id, scenario))

    async def pause(self, number: int) -> Connection:
        """Read from neither side of a connection. Raises LookupError."""
        return await self._connection("pause", number)

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it comes. Raises LookupError, Refused."""
        return await self._connection("step", number, direction)

    async def resume(self, number: int) -> Connection:
        """Read from both sides again. Raises LookupError."""
        return await self._connection("resume", number)

    async def close(self, number: int) -> Connection:
        """Close both sides. Raises LookupError."""
        return await self._connection("close", number)

    async def _connection(self, name: str, number: int, *args: Any) -> Connection:
        return cast(Connection, await self._where(name, number, *args))

    async def _where(self, name: str, *args: Any) -> Any:
        """What the one worker returns who has what this is about. Raises LookupError, Refused, NoAnswer."""
        found, silent = await self._pool.ask(name, *args)
        for each in found:
            if isinstance(each, Refused):
                raise each
            if not isinstance(each, LookupError):
                return each
        if silent:
            raise NoAnswer(silent)
        raise LookupError(args[0])

    def note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """For capture and live stream, as `Proxy.note`: one of the workers writes it, in order."""
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
        """Hand over those who wait, in their order, while there is room."""
        alone = bool(_alone(self.scenario))
        while self._waiting:
            if not self._pool.hand(self._waiting[0], alone):
                asyncio.get_running_loop().call_later(ROOM, self._hand)
                return
            self._waiting.popleft()

    def _say_alone(self) -> None:
        if self._plan.count > 1 and (why := _alone(self.scenario)):
            self._say(f"workers: {why}: worker 1 takes all connections")

    # workers

    def _work(self, worker: int, ends: Ends, loads: Loads) -> None:
        """In the worker's process."""
        Worker(
            ends,
            self.rules.scenario,
            self.rules.began,
            self._plan.make,
            partial(loads.took, worker),
            partial(loads.opened, worker),
        ).run()

    def _begun(self, caller: Caller) -> None:
        for rule, times in self._to_fire.items():
            self._pool.begin(caller.call("arm", rule, times))

    def _lost(self, connections: int) -> None:
        self._totals.lost += connections

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            await self._pool.look()

    def _listen(self, kind: Any, id: int, upstream: Address) -> Address:
        topology = self._listeners.topology
        return topology.place(topology.node(kind, id, upstream))

    def _claim(self, rule: str) -> tuple[bool, int]:
        """Whether a rule still is to fire, and how often after this."""
        granted = self._to_fire[rule] > 0
        self._to_fire[rule] -= granted
        return granted, self._to_fire[rule]


def _alone(scenario: Scenario | None) -> str:
    """Why one worker must have all connections; empty: it need not."""
    for name, why in dependence.check(scenario) if scenario is not None else ():
        return f"rule {name!r} depends on other connections {why}"
    return ""
