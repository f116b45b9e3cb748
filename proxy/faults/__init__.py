"""What can be done to a message. One file a fault: a frozen configuration and one pure function.

Each file says what the fault does to a Produce request with acks=0 (which nobody answers), to the order
of responses, and from when on a request is in flight: among those that wait for a response.

Beside their fields, settings may have what checks and the rest of the proxy ask for, all of it optional:
`applies_to(key, direction, version)`, whether it can be done to such a message; `no_op`, the setting that
makes it do nothing; `across`, how it depends on other connections; `caution`, what clients make of it that
may not be meant; `paths`, the fields that it names; `field_values`, the values that it gives to some, and
`layout(key, direction, version)`, of which message, if not of the one itself; `counts`, whose messages it
waits for; `same`, among which it acts; `only_kafka`, that it makes or pairs frames, or looks for fields, as
no dialect has them; `asks`, that of a response it wants the request, too.

A fault of one's own needs no fork: a tuple like this one goes to `barnabas.proxy.scenario.file.load`,
and `--faults module:TUPLE` names it on the command line.

A fault that remembers something from one message to the next names in a fourth element what makes its
state, and gets that as a fourth argument. A delay that is a random walk, on each connection its own:

    class Walk:
        ns = 0

    class Wander(Settings):
        step: Duration

    def wander(config: Wander, message: Message, roll: Roll, walk: Walk) -> Effects:
        walk.ns = max(0, walk.ns + round(config.step * (2 * roll() - 1)))
        return (Wait(walk.ns),)

    FAULTS = (("wander", Wander, wander, PerConnection(Walk)),)

Where the state goes by the time: `message.arrived` is when the message came, and a `Schedule` is told when
the message would leave, whatever delays it (see `throttle`). A state that has an entry for each of
something (clients, topics) bounds their number itself.
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
"""What a fault does: (configuration, message, chance) -> effects. Raises proxy.matching.message.Unable."""

StatefulAct = Callable[[Any, Message, Roll, Any], Effects]
"""The same with the fault's state as last argument."""


@dataclass(frozen=True, slots=True)
class PerRule:
    """A state for all messages on which a rule fires, whatever their connection; it ends with the rule.

    A rehearsal has it as the live run had, by the order of messages in the capture; another live run may
    not: the rule is said to depend on other connections, unless the settings' `across` says otherwise.
    """

    new: Callable[[], Any]
    """Makes it, when the rule first fires."""


@dataclass(frozen=True, slots=True)
class PerConnection:
    """A state for each connection on which a rule fires; it ends with either."""

    new: Callable[[], Any]
    """Makes it, when the rule first fires there."""


Fault = (
    tuple[str, type[BaseModel], Act]
    | tuple[str, type[BaseModel], StatefulAct, PerRule | PerConnection]
)
"""A name, its settings, what it does, and whose state it keeps, if it keeps any."""

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
"""Those that are about connections, not messages."""
