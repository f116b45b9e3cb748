"""Load the checks of dialects (`Dialect.checks`).

They are not in CHECKS: a capture without a scenario does not name its dialect, and a dialect's JoinGroup may
be another message than Kafka's. In Kafka's own traffic these checks would report nonsense.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from barnabas.captures.checks.finding import Check
from barnabas.plugins import load, usable
from barnabas.specs.dialects import Dialect, dialects, problems
from barnabas.trouble import Trouble


def dialect_checks(dialects: Iterable[Dialect]) -> tuple[Check, ...]:
    """Return the checks of these dialects.

    Raises Trouble if a dialect names something else than a tuple of checks.
    """
    loaded: list[Check] = []
    for dialect in dialects:
        checks = load(f"dialect {dialect.name}", dialect.checks) if dialect.checks else ()
        if not (isinstance(checks, tuple) and all(isinstance(check, Check) for check in checks)):
            raise Trouble(f"dialect {dialect.name}: {dialect.checks} is not a tuple of checks")
        loaded += checks
    return tuple(loaded)


def checks_of_all() -> tuple[tuple[Check, ...], list[str]]:
    """Return the checks of all dialects, and a line for each unusable dialect or tuple of checks."""
    loaded, reasons = usable(dialects(), lambda dialect: dialect_checks((dialect,)))
    return tuple(chain(*loaded.values())), [*problems(), *reasons.values()]
