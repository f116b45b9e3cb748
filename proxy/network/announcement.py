"""Announces that other rules are in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from barnabas.plural import plural
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.lint.notes import remarks


def announce(rules: Rules, before: Rules, by: str, say: Callable[[str], None]) -> dict[str, Any]:
    """Report to the person that other rules are in force, and return the note for the capture."""
    assert rules.scenario is not None  # noqa: S101 - what replaced the others
    facts = f"{plural(len(rules.rules), 'rule')}, {len(rules.shared(before))} unchanged"
    say(f"scenario: {rules.change(before)} by {by}: {facts}")
    for line in remarks(rules.scenario):
        say(line)
    return {"barnabas": "scenario", "by": by, **rules.scenario.meta()}
