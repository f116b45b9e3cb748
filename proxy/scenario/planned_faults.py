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
    *("across", "asks", "caution", "concerns", "counts", "field_values", "no_op", "only_kafka"),
    *("paths", "same"),
)
"""The optional attributes of settings in addition to `applies_to` and `layout`, see
`barnabas.proxy.faults`."""

OWN: Final = "; faults of your own are loaded with --faults MODULE:TUPLE"
"""The hint for an unknown fault without a similar name."""


NO_PARTS: Final = (
    "only applies to respond, because all entries of a message share its frame. For an error, write"
    " `respond: {error: ..., only: ...}`; for frames that name a partition,"
    " `match: {topic: ..., partition: ...}`"
)
"""Why a fault has no `only`, and what to write instead."""

NO_PARTS_OF_FIELDS: Final = (
    "only applies to respond. Choose the entry in the path:"
    " `topics[name=orders].partitions[0].error_code`"
)
"""The same for faults that name fields."""


class PlannedFault(NamedTuple):
    """One fault of a rule: its name, settings and function, and how its state is made."""

    name: str
    config: BaseModel
    act: Callable[..., Effects]
    """The function of (configuration, message, random numbers), and the state if there is one."""
    state: PerRule | PerConnection | None = None
    loc: Loc = ()
    """The location of the settings in `do`."""

    @property
    def untils(self) -> list[Until]:
        """Return the messages that the fault waits for, if its settings name any."""
        return [value for _, value in self.config if isinstance(value, Until)]


def alone(model: type[BaseModel]) -> str | None:
    """Return the setting whose value may stand for all: the only required one, or the only one.

    A boolean setting is never returned: `close: true` would mean something else than it does.

    >>> from barnabas.proxy.faults.delay import Delay
    >>> alone(Delay)  # `delay: 200ms`
    'by'
    """
    fields = model.model_fields
    names = [name for name, field in fields.items() if field.is_required()] or list(fields)
    usable = len(names) == 1 and fields[names[0]].annotation is not bool
    return names[0] if usable else None


def plan(value: Any, info: ValidationInfo) -> tuple[PlannedFault, ...]:
    """Return the faults of a `do`, for pydantic.

    Raises:
        ValidationError: `do` is invalid; all problems are listed.
    """
    faults: tuple[Fault, ...] = (info.context or {}).get("faults", FAULTS)
    functions = {name: (model, does) for name, model, *does in faults}
    planned: list[PlannedFault] = []
    problems: list[InitErrorDetails] = []
    for loc, name, settings in _entries(value, problems):
        if name not in functions:
            noun = "key" if loc[-1:] == (name,) else "fault"
            hint = did_you_mean(name, functions) or OWN
            problems.append(said(loc, f"unknown {noun} {name!r} in do{hint}"))
            continue
        model, does = functions[name]
        if isinstance(settings, dict) and "only" in settings and "only" not in model.model_fields:
            reason = NO_PARTS_OF_FIELDS if hasattr(model, "paths") else NO_PARTS
            problems.append(said(loc, f"{name}: {reason}"))
            continue
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
            planned.append(PlannedFault(name, config, *does)._replace(loc=prefix))
        except ValidationError as error:
            problems += [again(prefix, detail) for detail in error.errors(include_url=False)]
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - settings of the user's own
            problems.append(said(loc, f"{name}: its settings raised {raised(problem)}"))
    raise_all(problems)
    return tuple(planned)


def raised(problem: BaseException) -> str:
    """Return one line about an exception of the user's code."""
    return ": ".join(filter(None, (type(problem).__name__, " ".join(str(problem).split()))))


def _entries(value: Any, problems: list[InitErrorDetails]) -> list[tuple[Loc, str, Any]]:
    """Return the faults of a `do` as (location, name, settings), in the order written."""
    entries: list[tuple[Loc, str, Any]] = []
    listed = isinstance(value, tuple | list)
    for index, entry in enumerate(value if listed else (value,)):
        loc: Loc = (index,) if listed else ()
        match entry:
            case str():
                entries.append((loc, entry, None))
            case dict() if entry:
                entries += [((*loc, name), name, settings) for name, settings in entry.items()]
            case _:
                problems.append(
                    said(loc, "do: expected a fault, or several, such as {delay: 200ms}")
                )
    if not entries and not problems:
        problems.append(said((), "do: must not be empty"))
    return entries
