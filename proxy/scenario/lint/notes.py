"""All warnings and notes about a valid scenario, when it is loaded.

A check is a function of the scenario that yields names of rules, each with a reason. To add one: write its
file, and add a line to `CHECKS`, or to `ADVICE`, which only `barnabas scenario check` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from barnabas.proxy.scenario.lint import (
    cautions,
    chance,
    costs,
    dead_rules,
    dependence,
    idle_rules,
    newer_errors,
    one_direction,
    reconnects,
    vain_waits,
)
from barnabas.proxy.scenario.model import Scenario

Check = Callable[[Scenario], Iterable[tuple[str, str]]]
"""Returns names of rules, each with the end of a line."""

CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("warning: rule {!r} never fires: ", dead_rules.check),
    ("warning: rule {!r} ", idle_rules.check),
    (
        "warning: rule {!r} waits until its time is up for a message that never comes: ",
        vain_waits.check,
    ),
    ("note: rule {!r}: ", cautions.check),
    ("note: rule {!r}: ", newer_errors.check),
    ("note: rule {!r} is not reproducible live, deterministic in rehearse ", dependence.check),
    ("note: rule {!r} decodes ", costs.check),
)
"""The beginning of a line about a rule, and the check that returns the rest. Rules that do nothing get
warnings."""


ADVICE: Final[tuple[tuple[str, Check], ...]] = (
    ("note: rule {!r}: ", reconnects.check),
    ("note: rule {!r}: ", chance.check),
    ("note: rule {!r}: ", one_direction.check),
)
"""The same for rules that work as written, and perhaps not as intended."""


def advice(scenario: Scenario) -> list[str]:
    """Return the advice about a scenario, before its rules run."""
    return _lines(scenario, ADVICE)


def remarks(scenario: Scenario | None) -> list[str]:
    """Return warnings about rules that can do nothing, then notes.

    Notes are about strong reactions of clients, dependence on other connections, and costs.
    """
    return [] if scenario is None else _lines(scenario, CHECKS)


def warnings(scenario: Scenario | None) -> list[str]:
    """Return only the warnings about rules, or faults of theirs, that can do nothing."""
    return [line for line in remarks(scenario) if line.startswith("warning")]


def _lines(scenario: Scenario, checks: tuple[tuple[str, Check], ...]) -> list[str]:
    return [
        beginning.format(rule) + reason
        for beginning, check in checks
        for rule, reason in check(scenario)
    ]
