"""All that is to be said of a scenario that is right, when it is loaded.

A check is a function of the scenario that names rules, each with a reason. Where to add one: its file, and
a line in `CHECKS`, or in `ADVICE`, which only `barnabas scenario check` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from barnabas.proxy.scenario.lint import (
    again,
    cautions,
    chance,
    costs,
    dead_rules,
    dependence,
    idle_rules,
    one_way,
    vain_waits,
)
from barnabas.proxy.scenario.model import Scenario

Check = Callable[[Scenario], Iterable[tuple[str, str]]]
"""Names of rules, and what is to be said of each."""

CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("warning: rule {!r} never fires: ", dead_rules.check),
    ("warning: rule {!r} ", idle_rules.check),
    (
        "warning: rule {!r} waits until its time is up for a message that never comes: ",
        vain_waits.check,
    ),
    ("note: rule {!r}: ", cautions.check),
    ("note: rule {!r} is not reproducible live, deterministic in rehearse ", dependence.check),
    ("note: rule {!r} decodes ", costs.check),
)
"""What is said of a rule, and the check that gives the rest. What does nothing is a warning."""


ADVICE: Final[tuple[tuple[str, Check], ...]] = (
    ("note: rule {!r}: ", again.check),
    ("note: rule {!r}: ", chance.check),
    ("note: rule {!r}: ", one_way.check),
)
"""The same of what is as it is written, and may not be what was meant."""


def advice(scenario: Scenario) -> list[str]:
    """What is to be known of rules before they run."""
    return _said(scenario, ADVICE)


def remarks(scenario: Scenario | None) -> list[str]:
    """Warnings of rules that can do nothing, then notes: what clients can't bear, what depends on other
    connections, what costs."""
    return [] if scenario is None else _said(scenario, CHECKS)


def warnings(scenario: Scenario | None) -> list[str]:
    """Those alone of rules, or faults of theirs, that can do nothing."""
    return [line for line in remarks(scenario) if line.startswith("warning")]


def _said(scenario: Scenario, checks: tuple[tuple[str, Check], ...]) -> list[str]:
    return [
        said.format(rule) + reason for said, check in checks for rule, reason in check(scenario)
    ]
