"""What the control port steers: a proxy, of one process or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from barnabas.proxy.connection.breakpoints import Waiting
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import Connection, Report
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction


class Refused(ValueError):
    """What was asked for does not go in the present state."""


class Target(Protocol):
    """A proxy. Of a connection each method returns how it is then; LookupError: none has that number.

    With workers, `report` names those that do not answer (`missing`), and `replace`, `fire` and `release`
    reach them as soon as they go on. All other methods raise NoAnswer, and are not done later.
    """

    @property
    def options(self) -> Options:
        """What it was made from."""

    @property
    def address(self) -> Address:
        """Where clients find the bootstrap broker."""

    @property
    def scenario(self) -> Scenario | None:
        """The one that holds."""

    async def report(self) -> Report:
        """What it has counted, and what it is doing."""

    async def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules. Raises Refused."""

    async def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says. Raises LookupError."""

    async def release(self, rule: str) -> None:
        """What a rule holds leaves, whatever it waits for. Raises LookupError."""

    async def waiting(self) -> Sequence[Waiting]:
        """Return the messages that wait longest at breakpoints, WAITING at most, without their bodies."""

    async def message(self, id: str) -> Waiting:
        """One of them, with its body. Raises LookupError."""

    async def decide(self, id: str, scenario: str) -> Sequence[str]:
        """Do to one of them what the one rule of a scenario says; "": let it go. Returns what was done, in
        words. Raises LookupError, Refused if it can't be done."""

    async def pause(self, number: int) -> Connection:
        """Read from neither side of a connection."""

    async def step(self, number: int, direction: Direction) -> Connection:
        """Read the next frame of one direction, now or when it comes. Raises Refused if it is not paused."""

    async def resume(self, number: int) -> Connection:
        """Read from both sides again."""

    async def close(self, number: int) -> Connection:
        """Close both sides. Returns how it was before."""
