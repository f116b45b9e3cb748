"""The target of the control port: a proxy of one process or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from barnabas.proxy.connection.breakpoints import HaltedMessage
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Connection, Report
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction


class Refused(ValueError):
    """The error that a command is not possible in the present state."""


class Target(Protocol):
    """A proxy. Methods about a connection return its state, or raise LookupError if there is none.

    With workers, `report` names those that do not answer (`missing`), and `replace`, `fire` and `release`
    reach them as soon as they continue. All other methods raise NoAnswer, and are not carried out later.
    """

    @property
    def options(self) -> Options:
        """Return the options that the proxy was made from."""

    @property
    def address(self) -> Address:
        """Return the address at which clients find the bootstrap broker."""

    @property
    def scenario(self) -> Scenario | None:
        """Return the scenario in force."""

    async def report(self) -> Report:
        """Return the proxy's counts and state."""

    async def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules.

        Raises:
            Refused: The rules need all connections in one process.
        """

    async def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says.

        Raises:
            LookupError: There is no such rule.
        """

    async def release(self, rule: str) -> None:
        """Release the messages that a rule holds, whatever they wait for.

        Raises:
            LookupError: There is no such rule.
        """

    async def waiting(self) -> Sequence[HaltedMessage]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies."""

    async def message(self, id: str) -> HaltedMessage:
        """Return a waiting message with its body.

        Raises:
            LookupError: No message with this id waits (any longer).
        """

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Apply the rule of a scenario to a waiting message; "" lets the message leave unchanged.

        Returns:
            Descriptions of the effects.

        Raises:
            LookupError: No message with this id waits (any longer).
            Refused: The rule cannot be applied to the message.
        """

    async def pause(self, number: int) -> Connection:
        """Stop reading from both sides of a connection."""

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it arrives.

        Raises:
            Refused: The connection is not paused.
        """

    async def resume(self, number: int) -> Connection:
        """Read from both sides again."""

    async def close(self, number: int) -> Connection:
        """Close both sides; return the connection's state before."""
