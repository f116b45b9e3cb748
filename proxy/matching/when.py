"""How often a rule that matches also fires, and when."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.captures.kafka.expression import expression
from barnabas.proxy.matching.settings import Settings, one_of
from barnabas.proxy.matching.units import Duration


class Point(Settings, json_schema_extra=one_of("time", "rule")):
    """A moment: some time after the scenario began, or once a rule has fired so often."""

    time: Duration | None = None
    """So long after the scenario was loaded."""
    rule: str | None = None
    """Once this rule has fired ..."""
    fired: Annotated[int, Field(ge=1)] = 1
    """... so often, on all connections together: deterministic in rehearse only."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.time is None) == (self.rule is None):
            raise ValueError("give time or rule")
        return self


class Phase(Settings):
    """A stretch of time."""

    lasts: Annotated[Duration, Field(gt=0)]
    """How long."""
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of the matches on which the rule fires meanwhile; 0: it rests."""


def _key(text: str) -> str:
    expression(text)
    return text


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class When(Settings):
    """How often a rule that matches also fires. What comes before `after` or behind `until`, or in a
    phase in which it rests, is no match."""

    after: Point | None = None
    """Not before this."""
    until: Point | None = None
    """Not from this on."""
    phases: Annotated[tuple[Phase, ...], Field(strict=False)] = ()
    """Phases that follow each other, over and over, from `after` or the scenario's beginning on."""
    skip: Annotated[int, Field(ge=0)] = 0
    """The first so many matches are let through."""
    every: Annotated[int, Field(ge=1)] = 1
    """Then it fires on each so many-th match, the first of them among these."""
    times: Annotated[int, Field(ge=1)] | None = None
    """It fires at most this often on each connection: on the next one that a client opens, it does so again.
    With `scope: rule` on all together. Without end if absent."""
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    """It fires on this share of the matches; which ones, the seed decides."""
    key: Annotated[
        tuple[Annotated[str, AfterValidator(_key)], ...],
        BeforeValidator(_listed),
        Field(strict=False),
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = ()
    """What chance goes by: expressions on the body, e.g. `topic_data[0].name`. Equal messages are
    then treated alike wherever they come. If absent: client id, broker, the connection's ordinal
    among that client's to that broker, and the match's on it."""
    scope: Literal["connection", "rule"] = "connection"
    """Whether matches are counted on each connection, or on all of them together. The latter
    depends on the order in which connections get their turn: it is deterministic in rehearse only."""

    @property
    def timed(self) -> bool:
        """Whether it depends on the time or on other rules."""
        return self.after is not None or self.until is not None or bool(self.phases)

    def counts(self, ordinal: int, fired: int) -> bool:
        """Return whether the rule may fire on a match: by `skip`, `every` and `times`.

        Args:
            ordinal: The match's number, from 0.
            fired: How often the rule has fired.
        """
        return (
            ordinal >= self.skip
            and (ordinal - self.skip) % self.every == 0
            and (self.times is None or fired < self.times)
        )
