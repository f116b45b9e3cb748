"""The faults: what a rule can do to a message.

Each fault has one file with a frozen configuration and one pure function. The file states the fault's effect
on a Produce request with acks=0 (which no broker answers), on the order of responses, and from when on a
request is in flight: sent, and without a response.

Settings may have further attributes for checks and the rest of the proxy, all of them optional:

- `applies_to(key, direction, version)`: whether the fault can be applied to such a message.
- `no_op`: the setting that makes the fault do nothing.
- `across`: how the fault depends on other connections.
- `caution`: how clients react more strongly than may be intended.
- `concerns`: a function that returns whether a message has an entry that the fault is about. The rule matches
no other message. None if the fault is about whole messages.
- `paths`: the fields that the settings name.
- `field_values`: the values that the settings give to fields.
- `layout(key, direction, version)`: the layout of the message that `field_values` are about, if it is not the
matched message.
- `counts`: the scope in which the fault counts messages.
- `same`: the scope in which the fault acts.
- `only_kafka`: the fault makes or pairs frames, or looks for fields, so that it does not work in a dialect.
- `asks`: the fault needs the request of a response, too.

Your own fault needs no fork. Pass a tuple like this one to `barnabas.proxy.scenario.file.load`; `--faults
module:TUPLE` names it on the command line.

A stateful fault names in a fourth element how its state is made, and gets the state as a fourth argument. For
example, a delay that is a random walk on each connection:

    class Walk:
        ns = 0

    class Wander(Settings):
        step: Duration

    def wander(config: Wander, message: Message, roll: Roll, walk: Walk) -> Effects:
        walk.ns = max(0, walk.ns + round(config.step * (2 * roll() - 1)))
        return (Wait(walk.ns),)

    FAULTS = (("wander", Wander, wander, PerConnection(Walk)),)

If the state depends on time: `message.arrived` is the message's arrival, and a `Schedule` gets the time at
which the message would leave otherwise (see `throttle`). A state with one entry per client or topic must
bound their number itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from barnabas.proxy.effects import Effects
from barnabas.proxy.faults.blackhole import Blackhole, blackhole
from barnabas.proxy.faults.breakpoint import Breakpoint, breakpoint  # noqa: A004
from barnabas.proxy.faults.clamp import Clamp, clamp
from barnabas.proxy.faults.close import Close, close
from barnabas.proxy.faults.coalesce import Coalesce, coalesce
from barnabas.proxy.faults.corrupt import Corrupt, corrupt
from barnabas.proxy.faults.delay import Delay, delay
from barnabas.proxy.faults.drop import Drop, drop
from barnabas.proxy.faults.duplicate import Duplicate, duplicate
from barnabas.proxy.faults.edit import Edit, edit
from barnabas.proxy.faults.half_close import HalfClose, half_close
from barnabas.proxy.faults.hold import Hold, hold
from barnabas.proxy.faults.inject import Inject, inject
from barnabas.proxy.faults.isolate import Isolate, isolate
from barnabas.proxy.faults.lose_reply import LoseReply, lose_reply
from barnabas.proxy.faults.quota import Quota, quota
from barnabas.proxy.faults.refuse import Refuse, refuse
from barnabas.proxy.faults.reorder import Reorder, reorder
from barnabas.proxy.faults.replace import Replace, replace
from barnabas.proxy.faults.reset import Reset, reset
from barnabas.proxy.faults.respond import Respond, respond
from barnabas.proxy.faults.rewrite import Rewrite, rewrite
from barnabas.proxy.faults.skew import Skew, skew
from barnabas.proxy.faults.slice import Slice, slice  # noqa: A004
from barnabas.proxy.faults.stall import Stall, stall
from barnabas.proxy.faults.steer import Steer, steer
from barnabas.proxy.faults.throttle import RateLimiter, Throttle, throttle
from barnabas.proxy.faults.truncate import Truncate, truncate
from barnabas.proxy.matching.message import Message
from barnabas.proxy.matching.seeded_random import Roll

Act = Callable[[Any, Message, Roll], Effects]
"""(configuration, message, random numbers) -> effects. Raises proxy.matching.message.Unable."""

StatefulAct = Callable[[Any, Message, Roll, Any], Effects]
"""(configuration, message, random numbers, state) -> effects. Raises proxy.matching.message.Unable."""


@dataclass(frozen=True, slots=True)
class PerRule:
    """A state shared by all messages on which a rule fires, on any connection; it ends with the rule.

    A rehearsal has the same state as the live run, by the order of messages in the capture. Another live run
    may differ: the rule is reported to depend on other connections, unless the settings' `across` overrides
    that.
    """

    new: Callable[[], Any]
    """Makes the state, when the rule first fires."""


@dataclass(frozen=True, slots=True)
class PerConnection:
    """A state for each connection on which a rule fires; it ends with the rule or the connection."""

    new: Callable[[], Any]
    """Makes the state, when the rule first fires on the connection."""


Fault = (
    tuple[str, type[BaseModel], Act]
    | tuple[str, type[BaseModel], StatefulAct, PerRule | PerConnection]
)
"""The name, the settings, the function, and how the state is made, if the fault has one."""

# fmt: off
FAULTS: Final[tuple[Fault, ...]] = (
    ("delay", Delay, delay),
    ("throttle", Throttle, throttle, PerRule(RateLimiter)),
    ("hold", Hold, hold),
    ("breakpoint", Breakpoint, breakpoint),
    ("reorder", Reorder, reorder),
    ("drop", Drop, drop),
    ("lose_reply", LoseReply, lose_reply),
    ("duplicate", Duplicate, duplicate),
    ("truncate", Truncate, truncate),
    ("corrupt", Corrupt, corrupt),
    ("edit", Edit, edit),
    ("replace", Replace, replace),
    ("rewrite", Rewrite, rewrite),
    ("respond", Respond, respond),
    ("inject", Inject, inject),
    ("close", Close, close),
    ("reset", Reset, reset),
    ("half_close", HalfClose, half_close),
    ("stall", Stall, stall),
    ("blackhole", Blackhole, blackhole),
    ("quota", Quota, quota),
    ("slice", Slice, slice),
    ("coalesce", Coalesce, coalesce),
    ("refuse", Refuse, refuse),
    ("isolate", Isolate, isolate),
    ("steer", Steer, steer),
    ("clamp", Clamp, clamp),
    ("skew", Skew, skew),
)
# fmt: on

CONNECTIONS: Final = (Refuse,)
"""The settings of faults that are about connections, not messages."""
