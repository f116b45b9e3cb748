"""Conformance checks of a broker as pytest items: `pytest --barnabas-conform HOST:PORT`."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from barnabas.addresses import parse_servers
from barnabas.captures.host_port import Endpoint
from barnabas.conform.catalog import CHECKS
from barnabas.conform.check import MUST, Check
from barnabas.conform.network import Network
from barnabas.conform.report import failure_lines
from barnabas.conform.run import CannotRun, Suite
from barnabas.conform.served import SERVED
from barnabas.conform.verdicts import Verdict
from barnabas.peers.ownership import refusal
from barnabas.trouble import Trouble


class Failure(Exception):
    """A verdict that is neither pass nor skipped; the text is the report."""


class ConformanceItem(pytest.Item):
    """One check on one broker. A failed SHOULD or INFO check is an expected failure."""

    def __init__(self, *, check: Check, target: str, owned: bool, **more: Any) -> None:
        super().__init__(**more)
        self.check = check
        self.target = target
        self.owned = owned

    def runtest(self) -> None:
        """Run the check. Raises Failure."""
        verdict = asyncio.run(self._verdict())
        if verdict.outcome == "skipped":
            pytest.skip(verdict.reason)
        if verdict.outcome == "fail" and self.check.level > MUST:
            pytest.xfail(f"{self.check.level.name}: {verdict.reason}")
        if verdict.outcome == "fail":
            raise Failure("\n".join(failure_lines(self.check, verdict, self.target)))
        if verdict.outcome == "error":
            raise Failure(f"not carried out: {verdict.reason}")

    async def _verdict(self) -> Verdict:
        [address] = parse_servers(self.target)[:1]
        suite = Suite(lambda check: Network(address, owned=self.owned), jobs=1)
        try:
            [verdict] = [verdict async for verdict in suite.run([self.check])]
        except CannotRun as problem:
            raise Failure(f"can't check the broker: {problem}") from None
        return verdict

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """Return the report of a failed check, without a traceback."""
        if isinstance(excinfo.value, Failure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Any, None, str]:
        """Return the heading of a failure."""
        return self.path, None, self.name


def conformance_items(session: pytest.Session, target: str, *, owned: bool) -> list[pytest.Item]:
    """Return an item for each check.

    Raises:
        UsageError: The target is not an address, does not answer, or is on another machine and not owned.
    """
    try:
        [address] = parse_servers(target)[:1]
    except Trouble as problem:
        raise pytest.UsageError(f"--barnabas-conform: {problem}") from None
    if reason := refusal(address[0], "checks write to the broker", owned=owned):
        raise pytest.UsageError(f"--barnabas-conform: {reason}")
    try:
        asyncio.run(_offered(address, owned))
    except CannotRun as problem:
        raise pytest.UsageError(f"--barnabas-conform: can't check the broker: {problem}") from None
    items: list[pytest.Item] = [
        ConformanceItem.from_parent(
            session, name=f"conform[{check.name}]", check=check, target=target, owned=owned
        )
        for check in (*CHECKS, *SERVED)
    ]
    report = pytest.CollectReport(session.nodeid, "passed", None, list(items))
    session.config.hook.pytest_collectreport(report=report)  # so that pytest counts them
    return items


async def _offered(address: Endpoint, owned: bool) -> None:
    """Raise CannotRun if a broker does not answer."""
    await Suite(lambda check: Network(address, owned=owned)).offered()
