"""Runs checks over the exchanges of a capture, all in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from barnabas.captures.checks.finding import Check, Finding, See, finish
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange


class CheckFailed(Exception):
    """A check raised, or yielded what is no finding: a fault in the check, not in the capture."""


def run(
    exchanges: Iterable[Exchange], checks: Sequence[Check], context: Context | None = None
) -> Iterator[tuple[Check, Finding]]:
    """What the checks find, each when it shows; memory is bounded by what they remember.

    Exchanges come from `Conversations(strays=True)`, in the order in which they end.
    context: what is known before the first of them. Raises CheckFailed.
    """
    context = context or Context()
    begun = [(check, _begin(check)) for check in checks]
    for exchange in exchanges:
        context.learn(exchange)
        for check, see in begun:
            try:
                for finding in see(exchange, context):
                    yield check, _shown(finding)
            except Exception as problem:
                where = f" at {exchange.api} v{exchange.version} #{exchange.correlation_id}"
                raise _failed(check, problem, where) from problem
    for check, see in begun:
        try:
            for finding in finish(see):
                yield check, _shown(finding)
        except Exception as problem:
            raise _failed(check, problem, " at the end") from problem


def _shown(finding: Finding) -> Finding:
    if not finding.evidence:
        raise ValueError("a finding without evidence")
    return finding


def _begin(check: Check) -> See:
    try:
        return check.begin(check.settings)
    except Exception as problem:
        raise _failed(check, problem) from problem


def _failed(check: Check, problem: Exception, where: str = "") -> CheckFailed:
    why = f"{type(problem).__name__}: {' '.join(str(problem).split())}"
    return CheckFailed(f"check {check.name} failed{where}: {why}")
