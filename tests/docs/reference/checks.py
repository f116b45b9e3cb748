"""The page of checks, with their thresholds."""

from __future__ import annotations

from dataclasses import fields

from barnabas.captures.checks import CHECKS, Check
from barnabas.captures.checks.dialect_checks import dialect_checks
from barnabas.specs.dialects import dialects
from tests.docs.reference.markdown import code, page, prose, table


def checks() -> str:
    """The page."""
    return page(
        "Checks",
        "`barnabas check CAPTURE` runs them. `--only` and `--skip` choose, `--set CHECK.SETTING=VALUE` "
        "changes a threshold, and `--checks` adds [checks of your own](../howto/own-checks.md). A check "
        "judges nothing that began before the capture, and nothing across a gap.",
        _table(CHECKS),
        "## Checks of dialects",
        "`barnabas check` runs these in addition to the others if the capture is read as "
        "[their dialect](../howto/own-dialects.md).",
        _table(dialect_checks(dialects())),
    )


def _table(found: tuple[Check, ...]) -> str:
    rows = ((code(one.name), prose(one.what), prose(one.holds), _thresholds(one)) for one in found)
    return table(("check", "finds", "holds for", "thresholds"), rows)


def _thresholds(check: Check) -> str:
    values = ((one.name, getattr(check.settings, one.name)) for one in fields(check.settings))
    return ", ".join(f"{code(name)} {value}" for name, value in values)
