"""The models of a scenario: which messages, under which condition, how often, and what happens."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    PlainValidator,
    PrivateAttr,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core.core_schema import ValidationInfo

from barnabas.captures.kafka.expression import expression
from barnabas.captures.kafka.pairing.dialect_pairing import pairing_of
from barnabas.nearest import choices
from barnabas.proxy.faults import CONNECTIONS
from barnabas.proxy.matching.field_paths import named_fields
from barnabas.proxy.matching.match import Match
from barnabas.proxy.matching.record import check as check_record
from barnabas.proxy.matching.settings import Settings, raise_all, said
from barnabas.proxy.matching.when import When
from barnabas.proxy.matching.where import check
from barnabas.proxy.scenario.contradictions import clashes
from barnabas.proxy.scenario.errors import unknown
from barnabas.proxy.scenario.misfits import misfits
from barnabas.proxy.scenario.planned_faults import PlannedFault, plan, raised
from barnabas.proxy.scenario.symptoms import SYMPTOMS
from barnabas.specs.dialects import dialect
from barnabas.trouble import Trouble


class RuleConfig(Settings):
    """One rule: which messages, under which condition, how often, and what happens to them."""

    name: Annotated[str, Field(min_length=1)]
    """Names the rule in logs and captures; its chance depends on it. Names are unique."""
    match: Match = Match()
    """The messages to match. Any if absent."""
    where: str | None = None
    """A condition on the decoded body, in JMESPath: `group_id == 'orders'`."""
    record: str | None = None
    """A condition that one of the records must meet: `value.order_id == 17`. Fields are `offset`,
    `timestamp`, `key`, `value`, `headers`. JSON is decoded, and with `--schemas` payloads that have a
    schema."""
    when: When = When()
    """How often the rule fires. Always if absent."""
    do: Annotated[
        tuple[PlannedFault, ...],
        PlainValidator(plan, json_schema_input_type=Any),
        WithJsonSchema(
            {
                "description": "One or more faults, in the order written.",
                "examples": [{"delay": "200ms"}],
            }
        ),
    ]

    @field_validator("do")
    @classmethod
    def _leads(
        cls, planned: tuple[PlannedFault, ...], info: ValidationInfo
    ) -> tuple[PlannedFault, ...]:
        match = info.data.get("match")
        alone = [isinstance(fault.config, CONNECTIONS) for fault in planned]
        if any(alone) and (len(alone) > 1 or (match is not None and not match.only_broker)):
            name = next(fault.name for fault in planned if isinstance(fault.config, CONNECTIONS))
            text = f"{name} applies to connections: its rule has no other fault, and its match only broker"
            raise_all([said((), text)])
        problems = [
            said((), f"{fault.name}: {problem}")
            for fault in planned
            for path in getattr(fault.config, "paths", ())
            for field in named_fields(path)
            for problem in (
                check(expression(field), match.any_version) if match is not None else ()
            )
        ]
        if match is not None:
            for fault in planned:
                applies = getattr(fault.config, "applies_to", None)
                try:
                    if applies is not None:
                        any(applies(*kind) for kind in match.kinds())
                except (Exception, SystemExit) as problem:  # noqa: BLE001 - the user's own
                    text = f"{fault.name}: its applies_to raised {raised(problem)}"
                    problems.append(said((), text))
            problems += [
                said((*fault.loc, *loc), f"{fault.name}: {problem}")
                for fault in planned
                for loc, problem in misfits(fault.config, match)
            ]
            faults = [(fault.name, fault.config) for fault in planned]
            problems += [said((), problem) for problem in clashes(faults, match.direction)]
        raise_all(problems)
        return planned

    @field_validator("where")
    @classmethod
    def _fits(cls, text: str | None, info: ValidationInfo) -> str | None:
        if text is None:
            return None
        condition = expression(text)
        if "match" in info.data:
            problems = check(condition, info.data["match"].any_version)
            raise_all(said((), f"where: {problem}") for problem in problems)
        return text

    @field_validator("record")
    @classmethod
    def _has_such(cls, text: str | None, info: ValidationInfo) -> str | None:
        if text is not None and "match" in info.data:
            problems = check_record(expression(text), info.data["match"].any_version)
            raise_all(said((), f"record: {problem}") for problem in problems)
        return text


class About(Settings):
    """The purpose of a scenario; nothing that happens depends on it."""

    simulates: str
    """What fails, and where this happens in practice."""
    healthy: str
    """What a healthy client does; other behaviour may be a bug."""
    fatal: bool = False
    """Whether the application may get an error."""
    rereads: bool = False
    """Whether consumers may read records again, from an earlier offset on."""
    needs: str = ""
    """What the rules need in order to fire: a group, transactions, a version."""
    symptoms: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The symptoms that a user sees if a client does not handle the fault: `barnabas scenario "
        "list --symptom` finds it."""
    sources: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """KIPs, documents, issues."""

    @field_validator("symptoms")
    @classmethod
    def _are_known(cls, symptoms: tuple[str, ...]) -> tuple[str, ...]:
        for symptom in symptoms:
            if symptom not in SYMPTOMS:
                raise ValueError(f"no symptom {symptom!r}{choices(symptom, SYMPTOMS)}")
        return symptoms


class Scenario(Settings):
    """The rules for the traffic of a proxy, asked in their order."""

    version: Literal[1]
    """The version of this format."""
    about: About | None = None
    """The purpose of the scenario."""
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] = 0
    """The seed of all random decisions; the same seed and traffic give the same decisions."""
    dialect: str | None = None
    """The protocol of clients and brokers, if it is not Kafka's; `barnabas spec list --dialects` has the
    names. Rules then name APIs of the dialect, and some faults are unavailable."""
    rules: Annotated[tuple[RuleConfig, ...], Field(strict=False)]
    """The rules, asked in this order."""

    @field_validator("dialect")
    @classmethod
    def _is_spoken(cls, name: str | None) -> str | None:
        try:
            if name is None:
                return None
            spoken = dialect(name)
            pairing_of(spoken)  # fails here, not on each connection
            return spoken.name
        except (LookupError, Trouble) as problem:
            raise ValueError(str(problem)) from None

    @model_validator(mode="after")
    def _can(self) -> Self:
        if self.dialect is not None:
            raise_all(
                said(
                    ("rules", index, "do"),
                    f"{fault.name} applies to Kafka's own protocol, not to dialect {self.dialect}",
                )
                for index, rule in enumerate(self.rules)
                for fault in rule.do
                if getattr(fault.config, "only_kafka", False)
            )
        return self

    @model_validator(mode="after")
    def _names(self) -> Self:
        names = tuple(rule.name for rule in self.rules)
        raise_all(
            said(("rules", index, "when", key, "rule"), unknown("rule", point.rule, names, key))
            for index, rule in enumerate(self.rules)
            for key in ("after", "until")
            if (point := getattr(rule.when, key)) is not None
            and point.rule is not None
            and point.rule not in names
        )
        return self

    _source: str = PrivateAttr("")

    def meta(self) -> dict[str, Any]:
        """Return what a capture stores: with it, the same traffic meets the same decisions."""
        return {"scenario": self._source, "seed": self.seed}
