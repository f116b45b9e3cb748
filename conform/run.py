"""Runs checks against a broker: side by side, each with connections and names of its own."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from barnabas.conform.broker import Broker
from barnabas.conform.check import Check
from barnabas.conform.cleanup import delete
from barnabas.conform.connection import Connection, Versions
from barnabas.conform.login import Login, no_login
from barnabas.conform.network import Network
from barnabas.conform.operations import Open, Silence, Unreachable
from barnabas.conform.verdicts import Failed, Skipped, Unprepared, Verdict
from barnabas.specs.registry import NAMES, api

LONGEST_S = 60.0
"""How long one check may take."""


KEPT = 1 << 20
"""Bytes of a failure's response that are kept: hundreds of checks may fail."""


START_S = 60.0
"""How long a broker may take to answer after a restart."""


class CannotRun(Exception):
    """The broker can't be checked at all."""


@dataclass(slots=True)
class Suite:
    """A run of checks on one broker.

    Args:
        network: makes the driver of one check; gets the check's name, and the version if there are several.
        jobs: checks that run at once.
        restart: restarts a broker that no longer answers; None if there is no way.
        login: authenticates connections.
    """

    network: Callable[[str], Network]
    jobs: int = 8
    restart: Callable[[], Awaitable[None]] | None = None
    login: Login = no_login
    limit: Versions | None = None
    """The versions that another broker offers: newer ones are not used; None: no limit."""
    prefix: str = field(default_factory=lambda: f"conform-{secrets.token_hex(4)}")
    down: str = ""
    """Why the remaining checks can't run; empty while the broker answers."""
    versions: Versions = field(default_factory=dict)
    """What the broker offers, once `run` has started."""
    running: set[str] = field(default_factory=set)
    """The names of the checks that run now."""
    _created: list[tuple[str, str]] = field(default_factory=list)
    _crashes: int = 0
    """How often the broker went down."""
    _in_flight: int = 0
    """Checks that ran when it went down last."""
    _probing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def run(self, checks: Sequence[Check]) -> AsyncGenerator[Verdict]:
        """Run checks, and yield verdicts as they are reached: first side by side, then those that run alone.

        Raises:
            CannotRun: the broker can't be reached, or does not answer ApiVersions.
        """
        self.versions = _limited(await self.offered(), self.limit)
        slots = asyncio.Semaphore(self.jobs)

        async def together(number: int, check: Check) -> Verdict | Check:
            async with slots:
                return await self._verdict(number, check)

        numbered = list(enumerate(checks))
        tasks = [
            asyncio.create_task(together(number, check))
            for number, check in numbered
            if not check.alone
        ]
        later = [(number, check) for number, check in numbered if check.alone]
        try:
            for task in asyncio.as_completed(tasks):
                result = await task
                if isinstance(result, Verdict):
                    yield result
                else:
                    later.append((len(checks) + len(later), result))
            for number, check in later:
                result = await self._verdict(number, check, alone=True)
                if isinstance(result, Verdict):
                    yield result
        finally:
            for pending in tasks:
                pending.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._clean_up()

    async def offered(self) -> Versions:
        """Return the versions that both the broker and barnabas support.

        Raises:
            CannotRun: the broker can't be reached, or does not answer ApiVersions.
        """

        async def ask() -> Versions:
            connection = Connection(await Open(), {})
            response = await connection.send("ApiVersions", 0)
            return shared(
                {
                    row["api_key"]: (row["min_version"], row["max_version"])
                    for row in response["api_keys"]
                }
            )

        try:
            async with self.network("apiversions") as network:
                return await network.run(ask())
        except Unreachable as problem:
            raise CannotRun(str(problem)) from None
        except (Failed, Silence) as problem:
            raise CannotRun(f"no valid response to ApiVersions: {problem}") from None

    async def _verdict(self, number: int, check: Check, *, alone: bool = False) -> Verdict | Check:
        """Run a check and return its verdict, or the check, to be run again.

        If the broker goes down while several checks run, any of them may be the cause. Each that fails then
        is run again alone, once the broker has been restarted.
        """
        lacking = missing(check, self.versions)
        if lacking:
            return Verdict(check.name, "skipped", lacking)
        if self.down:
            return Verdict(check.name, "error", self.down)
        begun, crashes = time.monotonic(), self._crashes
        self.running.add(check.name)
        verdict = await self._checked(number, check)
        if verdict.outcome in ("fail", "error"):
            await self._probe()
        self.running.discard(check.name)
        crashed = self._crashes > crashes and verdict.outcome in ("fail", "error")
        if crashed and not alone:
            if self.restart is not None:
                return check
            if self._in_flight > 1:
                reason = (
                    f"{verdict.reason}; the broker went down while {self._in_flight} checks ran"
                )
                verdict = Verdict(check.name, "error", f"{reason}: run this one alone")
        elif crashed:
            verdict = replace(
                verdict, outcome="fail", reason=f"{verdict.reason}; the broker went down"
            )
        return replace(verdict, seconds=time.monotonic() - begun)

    async def _checked(self, number: int, check: Check) -> Verdict:
        for version in self._each(check):
            versions = {
                **self.versions,
                **({check.each: (version, version)} if check.each else {}),
            }
            label = f"{check.each} v{version}: " if check.each else ""
            network = self.network(f"{check.name} v{version}" if check.each else check.name)
            try:
                async with asyncio.timeout(LONGEST_S), network:
                    await network.run(
                        self._steps(check, versions, f"{self.prefix}-{number}-{version}")
                    )
            except Skipped as lack:
                return Verdict(check.name, "skipped", f"{label}{lack}")
            except Failed as failure:
                packets = network.packets(failure.evidence) if failure.evidence else ()
                failure.shorten(KEPT)
                reason = f"{label}{failure}"
                return Verdict(check.name, "fail", reason, failure, packets=packets)
            except (CannotRun, Unprepared, Unreachable, TimeoutError) as problem:
                return Verdict(
                    check.name,
                    "error",
                    f"{label}{problem or f'not finished after {LONGEST_S:g} s'}",
                )
            except Exception as problem:  # noqa: BLE001  # an error in one check must not end the run
                reason = f"{label}the check raised {type(problem).__name__}: {problem}"
                return Verdict(check.name, "error", reason)
        return Verdict(check.name, "pass")

    def _each(self, check: Check) -> range:
        if not check.each:
            return range(1)
        low, high = self.versions[check.each]
        return range(max(low, check.needs.get(check.each, 0)), high + 1)

    async def _steps(self, check: Check, versions: Versions, prefix: str) -> None:
        broker = Broker(versions, prefix, self.login, round(time.time() * 1000))
        try:
            await broker.run(check.run)
        finally:
            self._created += broker.created

    async def _probe(self) -> None:
        """Look whether the broker still answers; restart it, or give up."""
        async with self._probing:
            if self.down:
                return
            try:
                await self.offered()
            except CannotRun as problem:
                self._crashes += 1
                self._in_flight = len(self.running)
                if self.restart is None:
                    self.down = f"the broker no longer answers: {problem}; give --restart COMMAND"
                else:
                    await self._restarted(self.restart)

    async def _restarted(self, restart: Callable[[], Awaitable[None]]) -> None:
        """Restart the broker, and wait until it answers."""
        deadline = time.monotonic() + START_S
        try:
            await restart()
            while True:
                try:
                    await self.offered()
                except CannotRun:
                    if time.monotonic() > deadline:
                        raise
                    await asyncio.sleep(0.5)
                else:
                    return
        except CannotRun as problem:
            self.down = f"the broker went down, and --restart did not bring it back: {problem}"

    async def _clean_up(self) -> None:
        """Delete the topics and groups that checks created; errors are ignored: some do not exist."""
        # whatever goes wrong: the verdicts stand
        with contextlib.suppress(Exception):
            async with self.network("cleanup") as network:
                await network.run(delete(self._created, self.versions, self.login))


def _limited(versions: Versions, limit: Versions | None) -> Versions:
    """Return versions without those that are newer than another broker's, or that it does not offer."""
    if limit is None:
        return versions
    return {
        name: (low, min(high, limit[name][1]))
        for name, (low, high) in versions.items()
        if name in limit and low <= limit[name][1]
    }


def shared(offered: Mapping[int, tuple[int, int]]) -> Versions:
    """Return the versions that both sides support, by API name.

    >>> shared({18: (0, 99), 9999: (0, 1)})
    {'ApiVersions': (0, 5)}
    """
    known = {key: api(key) for key in offered if key in NAMES}
    both = {
        known[key].name: (max(low, known[key].versions[0]), min(high, known[key].versions[1]))
        for key, (low, high) in offered.items()
        if key in known
    }
    return {name: (low, high) for name, (low, high) in both.items() if low <= high}


def missing(check: Check, versions: Versions) -> str:
    """Return what a check needs and the broker does not offer; empty if nothing is missing."""
    for name, oldest in {check.each: 0, **check.needs}.items():
        if not name:
            continue
        low, high = versions.get(name, (0, -1))
        if high < oldest:
            have = f"{name} v{low} to v{high}" if high >= low else f"no {name}"
            return f"needs {name} v{oldest} or newer; the broker offers {have}"
    return ""
