"""Which checks run: ours and the user's own, those that were named, with the thresholds that were set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from barnabas.captures.checks import CHECKS, Check
from barnabas.cli.plugins.tuples import check_names, own_tuple
from barnabas.nearest import choices, did_you_mean
from barnabas.trouble import Trouble


def own_checks(name: str | None) -> tuple[Check, ...]:
    """Ours, and those of a tuple such as `barnabas.captures.checks.CHECKS` in a module of the user's."""
    if name is None:
        return CHECKS
    found = own_tuple("--checks", name)
    for entry in found:
        if not isinstance(entry, Check):
            raise Trouble(f"--checks {name}: {entry!r} is no barnabas.captures.checks.Check")
        if not (dataclasses.is_dataclass(entry.settings) and callable(entry.begin)):
            raise Trouble(
                f"--checks {name}: {entry.name}: settings are a dataclass, begin a function"
            )
    ours, theirs = ([check.name for check in some] for some in (CHECKS, found))
    check_names(f"--checks {name}", "check", ours, theirs)
    return (*CHECKS, *found)


def chosen(
    checks: tuple[Check, ...],
    only: Iterable[str] = (),
    skip: Iterable[str] = (),
    settings: Iterable[str] = (),
) -> tuple[Check, ...]:
    """Those that are to run, with their settings (`joins.longest_ms=10000`). Raises Trouble."""
    by_name = {check.name: check for check in checks}
    wanted, unwanted = set(only), set(skip)
    for name in (*wanted, *unwanted):
        _known(name, by_name)
    for text in settings:
        place, equals, value = text.partition("=")
        name, dot, setting = place.partition(".")
        if not (equals and dot):
            raise Trouble(f"--set {text}: write CHECK.SETTING=VALUE, e.g. joins.longest_ms=10000")
        by_name[name] = _set(_known(name, by_name), setting, value)
    left = tuple(
        check
        for check in by_name.values()
        if (not wanted or check.name in wanted) and check.name not in unwanted
    )
    if not left:
        raise Trouble("--skip leaves no check to run: name fewer")
    return left


def _known(name: str, checks: dict[str, Check]) -> Check:
    if name not in checks:
        raise Trouble(
            f"there is no check {name!r}{did_you_mean(name, checks)}; `barnabas check --list` names all"
        )
    return checks[name]


def _set(check: Check, setting: str, value: str) -> Check:
    now: dict[str, Any] = dataclasses.asdict(check.settings)
    if setting not in now:
        hint = choices(setting, now) if now else "; it has none"
        raise Trouble(f"--set: check {check.name} has no setting {setting!r}{hint}")
    try:
        number = type(now[setting])(value)
    except ValueError:
        kind = "a whole number" if isinstance(now[setting], int) else "a number"
        raise Trouble(f"--set {check.name}.{setting}: {value!r} is not {kind}") from None
    return check._replace(settings=dataclasses.replace(check.settings, **{setting: number}))
