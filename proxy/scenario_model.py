"""What a scenario says: which messages, under which condition, how often, and what happens."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    field_validator,
)
from pydantic_core import InitErrorDetails
from pydantic_core.core_schema import ValidationInfo

from captures.expression import expression
from proxy.faults import FAULTS, Act, Fault
from proxy.matching import Match
from proxy.scenario_errors import unknown
from proxy.settings import Loc, Settings, again, refuse, said
from proxy.where import check


class Planned(NamedTuple):
    """One fault of a rule: its name, its settings, and what it does."""

    name: str
    config: BaseModel
    act: Act


class When(Settings):
    """How often a rule that matches also fires."""

    skip: Annotated[int, Field(ge=0)] = 0
    """The first so many matches are let through."""
    times: Annotated[int, Field(ge=1)] | None = None
    """It fires at most this often. Without end if absent."""
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    """It fires on this share of the matches; which ones, the seed decides."""
    scope: Literal["connection", "rule"] = "connection"
    """Whether matches are counted on each connection, or on all of them together. The latter
    depends on the order in which connections get their turn: it is exact in rehearsal only."""


def required(model: type[BaseModel]) -> list[str]:
    """The settings that a fault can't do without."""
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _plan(value: Any, info: ValidationInfo) -> tuple[Planned, ...]:
    faults: tuple[Fault, ...] = (info.context or {}).get("faults", FAULTS)
    known = {name: (model, act) for name, model, act in faults}
    planned: list[Planned] = []
    problems: list[InitErrorDetails] = []
    for loc, name, settings in _entries(value, problems):
        if name not in known:
            what = "key" if loc[-1:] == (name,) else "fault"
            problems.append(said(loc, unknown(what, name, tuple(known), "do")))
            continue
        model, act = known[name]
        alone = required(model)
        if settings is None:
            settings = {}
        elif not isinstance(settings, dict) and len(alone) == 1:
            settings = {alone[0]: settings}  # delay: 200ms
        try:
            planned.append(Planned(name, model.model_validate(settings, context=info.context), act))
        except ValidationError as error:
            prefix = loc if loc[-1:] == (name,) else (*loc, name)
            problems += [again(prefix, detail) for detail in error.errors(include_url=False)]
    if problems:
        refuse(problems)
    return tuple(planned)


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
                problems.append(said(loc, "do: must name a fault, or several, with settings"))
    if not found and not problems:
        problems.append(said((), "do: must not be empty"))
    return found


class RuleConfig(Settings):
    """One rule: which messages, under which condition, how often, and what happens to them."""

    name: Annotated[str, Field(min_length=1)]
    """Names the rule in logs and captures; its chance depends on it. No two may be the same."""
    match: Match = Match()
    """Which messages. Any if absent."""
    where: str | None = None
    """A condition on the decoded body, in JMESPath: `group_id == 'orders'`."""
    when: When = When()
    """How often. Always if absent."""
    do: Annotated[
        tuple[Planned, ...],
        PlainValidator(_plan, json_schema_input_type=Any),
        WithJsonSchema({"description": "One or more faults, in the order written."}),
    ]

    @field_validator("where")
    @classmethod
    def _fits(cls, text: str | None, info: ValidationInfo) -> str | None:
        if text is None:
            return None
        condition = expression(text)
        if "match" in info.data:
            problems = check(condition, info.data["match"])
            if problems:
                refuse(said((), f"where: {problem}") for problem in problems)
        return text


class Scenario(Settings):
    """What a proxy does to traffic: rules, asked in their order."""

    version: Literal[1]
    """The version of this format."""
    seed: int = 0
    """Another seed, another chance; the same seed and traffic, the same decisions."""
    rules: Annotated[tuple[RuleConfig, ...], Field(strict=False)]
    """Asked in this order."""
    _source: str = PrivateAttr("")

    def meta(self) -> dict[str, Any]:
        """What a capture keeps of it: with this, the same traffic meets the same decisions."""
        return {"scenario": self._source, "seed": self.seed}
