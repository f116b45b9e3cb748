"""Run checks over the exchanges of a capture, all in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from barnabas.captures.checks.finding import Check, Finding, See, finish
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange


class CheckFailed(Exception):
    """A failure of a check: it raised an error, or yielded something else than a finding.

    This is a fault of the check, not of the capture.
    """


def run(
    exchanges: Iterable[Exchange], checks: Sequence[Check], context: Context | None = None
) -> Iterator[tuple[Check, Finding]]:
    """Yield the findings of the checks, each as soon as it is known; memory is bounded.

    Args:
        exchanges: From `Conversations(strays=True)`, in the order in which they end.
        checks: The checks.
        context: Facts known before the first exchange.

    Raises:
        CheckFailed: A check failed.
    """
    running = RunningChecks(checks, context)
    for exchange in exchanges:
        yield from running.see(exchange)
    yield from running.finish()


class RunningChecks:
    """Checks that get exchanges one by one. All methods may raise CheckFailed."""

    def __init__(self, checks: Sequence[Check], context: Context | None = None) -> None:
        self._context = context or Context()
        self._begun = [(check, _begin(check)) for check in checks]

    def see(self, exchange: Exchange) -> Iterator[tuple[Check, Finding]]:
        """Yield the findings that are known with the next exchange; the context learns from it first."""
        self._context.learn(exchange)
        for check, see in self._begun:
            try:
                for finding in see(exchange, self._context):
                    yield check, _validated(finding)
            except Exception as problem:
                position = f" at {exchange.api} v{exchange.version} #{exchange.correlation_id}"
                raise _failed(check, problem, position) from problem

    def finish(self) -> Iterator[tuple[Check, Finding]]:
        """Yield the remaining findings, once, after the last exchange."""
        for check, see in self._begun:
            try:
                for finding in finish(see):
                    yield check, _validated(finding)
            except Exception as problem:
                raise _failed(check, problem, " at the end") from problem


def _validated(finding: Finding) -> Finding:
    if not finding.evidence:
        raise ValueError("a finding without evidence")
    return finding


def _begin(check: Check) -> See:
    try:
        return check.begin(check.settings)
    except Exception as problem:
        raise _failed(check, problem) from problem


def _failed(check: Check, problem: Exception, position: str = "") -> CheckFailed:
    reason = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return CheckFailed(f"check {check.name} failed{position}: {reason}")
