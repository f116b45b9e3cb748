"""The checks that a command runs: selected built-in checks and the user's own, with their thresholds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from barnabas.captures.checks import CHECKS, Check
from barnabas.cli.plugins.tuples import check_names, own_tuple
from barnabas.nearest import choices, did_you_mean
from barnabas.trouble import Trouble


def own_checks(name: str | None) -> tuple[Check, ...]:
    """Return the built-in checks and those in a user's module.

    name: A tuple such as `barnabas.captures.checks.CHECKS`, written module:TUPLE. Raises Trouble.
    """
    if name is None:
        return CHECKS
    added = own_tuple("--checks", name)
    for entry in added:
        if not isinstance(entry, Check):
            raise Trouble(f"--checks {name}: {entry!r} is not a barnabas.captures.checks.Check")
        if not (dataclasses.is_dataclass(entry.settings) and callable(entry.begin)):
            raise Trouble(
                f"--checks {name}: {entry.name}: settings are a dataclass, begin a function"
            )
    ours, theirs = ([check.name for check in some] for some in (CHECKS, added))
    check_names(f"--checks {name}", "check", ours, theirs)
    return (*CHECKS, *added)


def chosen(
    checks: tuple[Check, ...],
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    settings: Iterable[str] = (),
) -> tuple[Check, ...]:
    """Return the selected checks with their settings (`joins.longest_ms=10000`). Raises Trouble."""
    by_name = {check.name: check for check in checks}
    selected, unwanted = set(only), set(skip)
    for name in (*selected, *unwanted):
        _known(name, by_name)
    for text in settings:
        path, equals, value = text.partition("=")
        name, dot, setting = path.partition(".")
        if not (equals and dot):
            raise Trouble(f"--set {text}: write CHECK.SETTING=VALUE, e.g. joins.longest_ms=10000")
        by_name[name] = _set(_known(name, by_name), setting, value)
    remaining = tuple(
        check
        for check in by_name.values()
        if (not selected or check.name in selected) and check.name not in unwanted
    )
    if not remaining:
        raise Trouble("--skip leaves no check to run: name fewer")
    return remaining


def _known(name: str, checks: dict[str, Check]) -> Check:
    if name not in checks:
        raise Trouble(f"no check {name!r}{did_you_mean(name, checks)}; see `barnabas check --list`")
    return checks[name]


def _set(check: Check, setting: str, value: str) -> Check:
    now: dict[str, Any] = dataclasses.asdict(check.settings)
    if setting not in now:
        hint = choices(setting, now) if now else "; it has no settings"
        raise Trouble(f"--set: check {check.name} has no setting {setting!r}{hint}")
    try:
        number = type(now[setting])(value)
    except ValueError:
        kind = "a whole number" if isinstance(now[setting], int) else "a number"
        raise Trouble(f"--set {check.name}.{setting}: {value!r} is not {kind}") from None
    return check._replace(settings=dataclasses.replace(check.settings, **{setting: number}))
