"""A proxy of this process as the target of the control port."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from barnabas.proxy.connection.breakpoints import HaltedMessage, oldest
from barnabas.proxy.control.omissions import WAITING
from barnabas.proxy.control.target import Refused
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.report import Connection, Report, connection, report
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.rules.manual_decision import DECISIONS
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction


class LocalTarget:
    """A `Target` in this process, which does everything at once."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy

    @property
    def options(self) -> Options:
        """Return the options that the proxy was made from."""
        return self._proxy.options

    @property
    def address(self) -> Address:
        """Return the address at which clients find the bootstrap broker."""
        return self._proxy.address

    @property
    def scenario(self) -> Scenario | None:
        """Return the scenario in force."""
        return self._proxy.rules.scenario

    async def report(self) -> Report:
        """Return the proxy's counts and state."""
        return report(self._proxy)

    async def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules."""
        self._proxy.replace(scenario, by)

    async def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says.

        Raises:
            LookupError: There is no such rule.
        """
        self._proxy.fire(rule)

    async def release(self, rule: str) -> None:
        """Release the messages that a rule holds, whatever they wait for.

        Raises:
            LookupError: There is no such rule.
        """
        self._proxy.release(rule)

    async def waiting(self) -> list[HaltedMessage]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies."""
        relays = self._proxy.relays.values()
        return oldest((relay.connection.breakpoints for relay in relays), WAITING)

    async def message(self, id: str) -> HaltedMessage:
        """Return a waiting message with its body.

        Raises:
            LookupError: No message with this id waits (any longer).
        """
        return self._halted(id).connection.breakpoints.message(id)

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Apply the rule of a scenario to a waiting message; "" lets the message leave unchanged.

        Returns:
            Descriptions of the effects.

        Raises:
            LookupError: No message with this id waits (any longer).
            Refused: The rule cannot be applied to the message.
        """
        self._halted(id)  # check before the YAML is read
        rule = None
        if scenario:
            rule = (await asyncio.to_thread(loads, scenario, faults=DECISIONS)).rules[0]
        relay = self._halted(id)
        try:
            decision = relay.connection.breakpoints.decision_by(id, rule)
        except Unable as problem:
            raise Refused(str(problem)) from None
        self._proxy.note({"barnabas": "decide", "message": id, "rule": scenario})
        relay.decide(id, decision)
        return decision.text

    async def pause(self, number: int) -> Connection:
        """Stop reading from both sides of a connection.

        Raises:
            LookupError: There is no such connection.
        """
        relay = self._relay(number)
        relay.pause()
        return connection(relay)

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it arrives.

        Raises:
            LookupError: There is no such connection.
            Refused: The connection is not paused.
        """
        relay = self._relay(number)
        if not relay.paused:
            raise Refused(f"connection {number} is not paused: pause it first")
        relay.step(direction)
        return connection(relay)

    async def resume(self, number: int) -> Connection:
        """Read from both sides again.

        Raises:
            LookupError: There is no such connection.
        """
        relay = self._relay(number)
        relay.resume()
        return connection(relay)

    async def close(self, number: int) -> Connection:
        """Close both sides.

        Raises:
            LookupError: There is no such connection.
        """
        relay = self._relay(number)
        state = connection(relay)
        relay.close()
        return state

    def _halted(self, message: str) -> Relay:
        """Return the connection on which a message with this id would wait."""
        for number, relay in self._proxy.relays.items():
            if message.partition(".")[0] == str(number):
                return relay
        raise LookupError(message)

    def _relay(self, number: int) -> Relay:
        return self._proxy.relays[number]
