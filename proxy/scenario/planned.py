"""Reads the faults of a rule's `do`: names with settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails
from pydantic_core.core_schema import ValidationInfo

from barnabas.nearest import did_you_mean
from barnabas.proxy.effects import Effects
from barnabas.proxy.faults import FAULTS, Fault, PerConnection, PerRule
from barnabas.proxy.matching.match import Until
from barnabas.proxy.matching.settings import Loc, again, raise_all, said

HOOKS: Final = (
    *("across", "asks", "caution", "counts", "field_values", "no_op", "only_kafka", "paths"),
    "same",
)
"""What settings may say of themselves beside `applies_to` and `layout`, see `barnabas.proxy.faults`."""

OWN: Final = "; faults of your own are loaded with --faults MODULE:TUPLE"
"""What is said of a name that no fault has that is known, nor one like it."""


class Planned(NamedTuple):
    """One fault of a rule: its name, its settings, what it does, and whose state it keeps."""

    name: str
    config: BaseModel
    act: Callable[..., Effects]
    """(configuration, message, chance), and the state if there is one."""
    state: PerRule | PerConnection | None = None
    loc: Loc = ()
    """Where its settings stand in `do`."""

    @property
    def untils(self) -> list[Until]:
        """The messages that it waits for, where its settings name some."""
        return [value for _, value in self.config if isinstance(value, Until)]


def alone(model: type[BaseModel]) -> str | None:
    """The setting whose value may stand for all: the only one that is needed, or that there is.

    `close: true` would say something else than it does, so none that is true or false.

    >>> from barnabas.proxy.faults.delay import Delay
    >>> alone(Delay)  # `delay: 200ms`
    'by'
    """
    fields = model.model_fields
    names = [name for name, field in fields.items() if field.is_required()] or list(fields)
    one = len(names) == 1 and fields[names[0]].annotation is not bool
    return names[0] if one else None


def plan(value: Any, info: ValidationInfo) -> tuple[Planned, ...]:
    """The faults of a `do`, for pydantic. Raises ValidationError with all that is wrong."""
    faults: tuple[Fault, ...] = (info.context or {}).get("faults", FAULTS)
    known = {name: (model, does) for name, model, *does in faults}
    planned: list[Planned] = []
    problems: list[InitErrorDetails] = []
    for loc, name, settings in _entries(value, problems):
        if name not in known:
            what = "key" if loc[-1:] == (name,) else "fault"
            hint = did_you_mean(name, known) or OWN
            problems.append(said(loc, f"unknown {what} {name!r} in do{hint}"))
            continue
        model, does = known[name]
        prefix = loc if loc[-1:] == (name,) else (*loc, name)
        short = alone(model)
        if settings is None:
            settings = {}
        elif not isinstance(settings, dict) and short is not None:
            settings = {short: settings}  # delay: 200ms
        try:
            config = model.model_validate(settings, context=info.context)
            for hook in HOOKS:
                getattr(config, hook, None)
            planned.append(Planned(name, config, *does)._replace(loc=prefix))
        except ValidationError as error:
            problems += [again(prefix, detail) for detail in error.errors(include_url=False)]
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - settings of the user's own
            problems.append(said(loc, f"{name}: its settings raised {raised(problem)}"))
    raise_all(problems)
    return tuple(planned)


def raised(problem: BaseException) -> str:
    """What code of the user's raised, in a line."""
    return ": ".join(filter(None, (type(problem).__name__, " ".join(str(problem).split()))))


def _entries(value: Any, problems: list[InitErrorDetails]) -> list[tuple[Loc, str, Any]]:
    """The faults of a `do`, in the order written: (place, name, settings)."""
    found: list[tuple[Loc, str, Any]] = []
    listed = isinstance(value, tuple | list)
    for place, entry in enumerate(value if listed else (value,)):
        loc: Loc = (place,) if listed else ()
        match entry:
            case str():
                found.append((loc, entry, None))
            case dict() if entry:
                found += [((*loc, name), name, settings) for name, settings in entry.items()]
            case _:
                problems.append(
                    said(loc, "do: expected a fault, or several, such as {delay: 200ms}")
                )
    if not found and not problems:
        problems.append(said((), "do: must not be empty"))
    return found
