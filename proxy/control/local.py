"""A proxy of this process as what the control port steers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from barnabas.proxy.connection.breakpoints import Waiting, oldest
from barnabas.proxy.control.omissions import WAITING
from barnabas.proxy.control.target import Refused
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.report import Connection, Report, connection, report
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.by_hand import DECISIONS
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction


class LocalTarget:
    """A `Target`; all is done at once."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    @property
    def options(self) -> Options:
        """What it was made from."""
        return self._proxy.options

    @property
    def address(self) -> Address:
        """Where clients find the bootstrap broker."""
        return self._proxy.address

    @property
    def scenario(self) -> Scenario | None:
        """The one that holds."""
        return self._proxy.rules.scenario

    async def report(self) -> Report:
        """What it has counted, and what it is doing."""
        return report(self._proxy)

    async def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules."""
        self._proxy.replace(scenario, by)

    async def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says. Raises LookupError."""
        self._proxy.fire(rule)

    async def release(self, rule: str) -> None:
        """What a rule holds leaves, whatever it waits for. Raises LookupError."""
        self._proxy.release(rule)

    async def waiting(self) -> list[Waiting]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies."""
        relays = self._proxy.relays.values()
        return oldest((relay.connection.breakpoints for relay in relays), WAITING)

    async def message(self, id: str) -> Waiting:
        """One of them, with its body. Raises LookupError."""
        return self._halted(id).connection.breakpoints.message(id)

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Do to one of them what the one rule of a scenario says; "": let it go. Returns what was done, in
        words. Raises LookupError, Refused if it can't be done."""
        self._halted(id)  # or YAML would be read for nothing
        rule = None
        if scenario:
            rule = (await asyncio.to_thread(loads, scenario, faults=DECISIONS)).rules[0]
        relay = self._halted(id)
        try:
            decision = relay.connection.breakpoints.weigh(id, rule)
        except Unable as problem:
            raise Refused(str(problem)) from None
        self._proxy.note({"barnabas": "decide", "message": id, "rule": scenario})
        relay.decide(id, decision)
        return decision.text

    async def pause(self, number: int) -> Connection:
        """Read from neither side of a connection. Raises LookupError."""
        relay = self._relay(number)
        relay.pause()
        return connection(relay)

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it comes. Raises LookupError, Refused."""
        relay = self._relay(number)
        if not relay.paused:
            raise Refused(f"connection {number} is not paused: pause it first")
        relay.step(direction)
        return connection(relay)

    async def resume(self, number: int) -> Connection:
        """Read from both sides again. Raises LookupError."""
        relay = self._relay(number)
        relay.resume()
        return connection(relay)

    async def close(self, number: int) -> Connection:
        """Close both sides. Raises LookupError."""
        relay = self._relay(number)
        found = connection(relay)
        relay.close()
        return found

    def _halted(self, message: str) -> Relay:
        """The connection on which a message would wait that has this id."""
        for number, relay in self._proxy.relays.items():
            if message.partition(".")[0] == str(number):
                return relay
        raise LookupError(message)

    def _relay(self, number: int) -> Relay:
        return self._proxy.relays[number]
