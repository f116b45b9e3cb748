"""A proxy of this process as what the control port steers."""

from __future__ import annotations

from barnabas.proxy.control.target import Refused
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.report import Connection, Report, connection, report
from barnabas.proxy.network.server import Proxy
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

    def _relay(self, number: int) -> Relay:
        return self._proxy.relays[number]
