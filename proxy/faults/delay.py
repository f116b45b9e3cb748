"""`delay`: the receiver gets the message `by` later than it reached the proxy.

Later messages of its direction wait too. `jitter` varies the delay: by at most that much (`uniform`), with
that standard deviation (`normal`), or by that much more on average (`pareto`).

acks=0: as for any request.
Order: kept, since later messages wait too.
In flight: from when the request leaves.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, Literal, Self

from pydantic import model_validator

from barnabas.proxy.effects import Effects, Wait
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import Duration

TAIL: Final = 100
"""The most that `pareto` adds, as a multiple of `jitter`; one draw in 10,000 would exceed it."""

_MEANS: Final = {
    "uniform": "the most that is added or taken off",
    "normal": "the standard deviation",
    "pareto": "what is added on average",
}
"""The meaning of jitter for each distribution."""


class Delay(Settings, json_schema_extra={"dependentRequired": {"distribution": ["jitter"]}}):
    """The receiver gets the message later; later messages of its direction wait too."""

    by: Duration
    """The time from the message's arrival to its departure."""
    jitter: Duration = 0
    """The variation of the delay, see `distribution`; none if absent. A delay is never negative."""
    distribution: Literal["uniform", "normal", "pareto"] = "uniform"
    """uniform: by ± jitter. normal: jitter is the standard deviation. pareto: a long tail (shape 2) above
    `by`, whose mean is jitter; at most 100 times jitter. Give `jitter` with it."""

    @model_validator(mode="after")
    def _varies(self) -> Self:
        if "distribution" in self.model_fields_set and "jitter" not in self.model_fields_set:
            raise ValueError(
                f"distribution: {self.distribution} says how the delay varies, and jitter by how much: "
                f"give jitter too: it is {_MEANS[self.distribution]} (such as jitter: 50ms)"
            )
        return self

    @property
    def no_op(self) -> str:
        """Return the setting that makes the fault do nothing; "" if it does something."""
        return "" if self.by or self.jitter else "by"


def delay(config: Delay, message: Message, roll: Roll) -> Effects:
    """Wait for a time drawn from the distribution.

    >>> delay(Delay.model_validate({"by": "200ms", "jitter": "50ms"}), ..., lambda: 0.0)
    (Wait(ns=150000000),)
    """
    if not config.jitter:
        return (Wait(config.by),)
    chance = roll()
    match config.distribution:
        case "uniform":
            off = 2 * chance - 1
        case "normal":
            off = NormalDist().inv_cdf(max(chance, 2.0**-53))
        case "pareto":
            off = min((1 - chance) ** -0.5 - 1, TAIL)
    return (Wait(max(0, config.by + round(config.jitter * off))),)
