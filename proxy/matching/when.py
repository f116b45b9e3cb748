"""How often, and when, a matching rule fires."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from barnabas.captures.kafka.expression import expression
from barnabas.proxy.matching.settings import Settings, one_of
from barnabas.proxy.matching.units import Duration


class Point(Settings, json_schema_extra=one_of("time", "rule")):
    """A moment: a time after the scenario was loaded, or the moment when a rule has fired so often."""

    time: Duration | None = None
    """A time after the scenario was loaded."""
    rule: str | None = None
    """Once this rule has fired ..."""
    fired: Annotated[int, Field(ge=1)] = 1
    """... this often, on all connections together: deterministic in rehearse only."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.time is None) == (self.rule is None):
            raise ValueError("give time or rule")
        return self


class Phase(Settings):
    """A period with its own probability."""

    lasts: Annotated[Duration, Field(gt=0)]
    """The duration of the phase."""
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of matches on which the rule fires in this phase; 0: the rule never fires."""


def _key(text: str) -> str:
    expression(text)
    return text


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


class When(Settings):
    """The frequency with which a matching rule fires.

    Messages before `after`, from `until` on, or in a phase of probability 0 do not count as matches.
    """

    after: Point | None = None
    """The rule does not fire before this moment."""
    until: Point | None = None
    """The rule does not fire from this moment on."""
    phases: Annotated[tuple[Phase, ...], Field(strict=False)] = ()
    """Consecutive phases, repeated, from `after` or the scenario's beginning on."""
    skip: Annotated[int, Field(ge=0)] = 0
    """The number of first matches on which the rule does not fire."""
    every: Annotated[int, Field(ge=1)] = 1
    """After those, the rule fires on every n-th match, starting with the first."""
    times: Annotated[int, Field(ge=1)] | None = None
    """The most often that the rule fires on each connection; it starts again on the client's next
    connection. With `scope: rule`, on all connections together. Unlimited if absent."""
    probability: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The share of matches on which the rule fires; the seed chooses them."""
    key: Annotated[
        tuple[Annotated[str, AfterValidator(_key)], ...],
        BeforeValidator(_listed),
        Field(strict=False),
        WithJsonSchema(
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
        ),
    ] = ()
    """What the probability depends on: expressions on the body, e.g. `topic_data[0].name`. Equal messages
    are then treated alike wherever they come. If absent: client id, broker, the connection's ordinal
    among that client's to that broker, and the match's ordinal on it."""
    scope: Literal["connection", "rule"] = "connection"
    """Whether matches are counted on each connection, or on all of them together. The latter depends on the
    order in which connections get their turn: it is deterministic in rehearse only."""

    @property
    def timed(self) -> bool:
        """Return whether firing depends on the time or on other rules."""
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
