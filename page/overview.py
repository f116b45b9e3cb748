"""The page's overview: figures by time, what the checks of `barnabas check` found so far, and the busiest."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.finding import SEVERITIES, Finding, Severity
from barnabas.captures.checks.runner import CheckFailed, RunningChecks
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.normal_errors import ERRORS, is_failed
from barnabas.captures.summary.rows import Table
from barnabas.captures.summary.summary import BY
from barnabas.captures.summary.timeline import Timeline
from barnabas.page.views import FedViews
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History
from barnabas.proxy.network.clock import clock

WINDOW_MS: Final = 300_000
"""The span of figures by time over live traffic; those over a capture have all of it."""

TABLES: Final = ("api", "client", "broker", "topic")
ROWS: Final = 8
"""Rows of a table in a response."""

LABELS: Final = 10_000
"""Rows of a table that are counted separately; further ones share one row."""

LISTED: Final = 20
"""The findings of a check that are listed, the last ones."""


@dataclass(slots=True)
class _Findings:
    counts: Counter[Severity] = field(default_factory=Counter)
    last: deque[Finding] = field(default_factory=lambda: deque(maxlen=LISTED))


class LiveChecks:
    """The checks over exchanges so far. If a check fails, all of them end, and `failed` says why."""

    def __init__(self, checks: Sequence[Check] = CHECKS) -> None:
        self.failed = ""
        self._running = RunningChecks(checks)
        self._findings: dict[str, _Findings] = {check.name: _Findings() for check in checks}
        self._checks = checks
        self._finished = False

    def add(self, exchange: Exchange) -> None:
        """Let the checks see an exchange."""
        if not exchange.inferred:
            self._note(lambda: self._running.see(exchange))

    def finish(self) -> None:
        """Note the findings that are known only at the end of the traffic; a second call does nothing."""
        if not self._finished:
            self._finished = True
            self._note(self._running.finish)

    def _note(self, findings: Callable[[], Any]) -> None:
        try:
            for check, finding in () if self.failed else findings():
                noted = self._findings[check.name]
                noted.counts[finding.severity] += 1
                noted.last.append(finding)
        except CheckFailed as problem:
            self.failed = str(problem)

    def document(self) -> list[dict[str, Any]]:
        """Return what each check found, in JSON form: the most severe first."""
        groups = [
            {
                "check": check.name,
                "problem": check.what,
                "severity": next(each for each in SEVERITIES if noted.counts[each]),
                "counts": {str(name): count for name, count in noted.counts.items()},
                "findings": [finding.row(check.name) for finding in reversed(noted.last)],
            }
            for check in self._checks
            if (noted := self._findings[check.name]).counts
        ]
        return sorted(groups, key=lambda each: SEVERITIES.index(each["severity"]))


class _Tables:
    """The busiest clients, topics, APIs and brokers."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._tables = {name: Table(LABELS) for name in TABLES}

    def add(self, exchange: Exchange) -> None:
        """Count an exchange."""
        failed = is_failed(exchange)
        for name, table in self._tables.items():
            for label in BY[name](exchange, self._context):
                table.note(label, exchange.latency_ms, failed=failed)

    def document(self) -> dict[str, list[dict[str, Any]]]:
        """Return the most frequent rows of each table in JSON form."""
        return {
            name: [
                {
                    "name": label,
                    "count": row.count,
                    "errors": row.errors,
                    "p99_ms": row.latencies.percentile_ms(0.99),
                }
                for label, row in table.ordered()[:ROWS]
            ]
            for name, table in self._tables.items()
        }


class Overview:
    """The request for the overview.

    Args:
        history: The exchanges.
        live: Whether the traffic is a proxy's, not a capture's.
        clock: Returns ns since the epoch.
    """

    def __init__(self, history: History, *, live: bool, clock: Callable[[], int] = clock) -> None:
        self._history, self._live, self._clock = history, live, clock
        self._timeline = Timeline(WINDOW_MS if live else None)
        self._checks = LiveChecks()
        self._tables = _Tables(history.context)
        self._fed = FedViews(self._timeline, self._checks, self._tables)

    @property
    def routes(self) -> list[Route]:
        """Return the route of the request."""
        return [Route("/overview", self.overview)]

    async def overview(self, _: Request) -> Response:
        """Return figures by time, and what stands out: the findings of all checks so far."""
        over = self._history.over
        following = self._live and not over
        state = await self._fed.fresh(self._history)
        if over and not state["waiting"]:
            self._checks.finish()
        return json_response(
            {
                "timeline": self._timeline.document(
                    self._clock() if following else self._timeline.last
                ),
                "errors_filter": ERRORS,
                "stands_out": self._checks.document(),
                "failed": self._checks.failed,
                "tables": self._tables.document(),
                **state,
            }
        )
