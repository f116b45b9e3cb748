"""The checks that dialects bring (`Dialect.checks`).

They are not among CHECKS: a capture without a scenario does not name its dialect, and what a dialect calls
JoinGroup may be another message in Kafka. In Kafka's own traffic these checks would find nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from barnabas.captures.checks.finding import Check
from barnabas.plugins import load, usable
from barnabas.specs.dialects import Dialect, dialects, problems
from barnabas.trouble import Trouble


def dialect_checks(dialects: Iterable[Dialect]) -> tuple[Check, ...]:
    """Return the checks of these dialects. Raises Trouble if what a dialect names is no tuple of checks."""
    found: list[Check] = []
    for dialect in dialects:
        checks = load(f"dialect {dialect.name}", dialect.checks) if dialect.checks else ()
        if not (isinstance(checks, tuple) and all(isinstance(check, Check) for check in checks)):
            raise Trouble(f"dialect {dialect.name}: {dialect.checks} is no tuple of checks")
        found += checks
    return tuple(found)


def checks_of_all() -> tuple[tuple[Check, ...], list[str]]:
    """Return the checks of all dialects, and a line for each that is unusable or has unusable ones."""
    found, reasons = usable(dialects(), lambda dialect: dialect_checks((dialect,)))
    return tuple(chain(*found.values())), [*problems(), *reasons.values()]
