"""The arms of the experiment with an overtaken commit: what the members do, and the proxy's scenario.

A member (`m`) has two partitions. It reads and commits some records, reads some more, and commits these
with a mark; a second member (`a`) has come meanwhile. Who overtakes the marked commit, and where, is
what arms differ by. `a` sorts before `m`, so it gets the partition that `m` gives up; `z` is a third
member that has nothing to do, but for which all wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

Protocol = Literal["classic", "consumer"]

MARK: Final = "async-17"
"""The metadata of the commit that is to be overtaken."""
RECORDS: Final = 120
"""In the topic, in two partitions."""
FIRST, SECOND = 20, 20
"""Records that are committed beforehand, and those that the marked commit is about."""
BATCH: Final = 5
"""Records a poll."""
SESSION: Final = 3.0
"""Seconds. A third of it is what heartbeats take at most to tell a member of a rebalance."""
HEARTBEAT: Final = 0.3
WORK: Final = 1.5
"""Seconds in which the member does not poll while the other one comes."""
AWAITED: Final = 1.5
"""Seconds that the third member takes longer."""
REPLACED: Final = 4.0
"""Seconds after which a client closes a connection on which it was not answered."""
FINISH: Final = 25.0
"""Seconds after which a run is over."""

Step = tuple[Any, ...]


class Arm(NamedTuple):
    """rules: the scenario's, by protocol where they differ. steps: of each member by its letter."""

    name: str
    about: str
    rules: str = ""
    steps: Mapping[str, Sequence[Step]] = {}
    proxied: bool = True
    listens: bool = False
    """Whether `m` commits in onPartitionsRevoked, with commitSync."""
    request_timeout: float = 0.0
    """Seconds; 0: the client's own."""
    client: str = ""
    """A version of the client; as the broker's if empty."""
    by: Literal["itself", "another", "nobody", "newer"] = "itself"
    """Whose message is to overtake the commit."""


_FIRST: Final[tuple[Step, ...]] = (("read", FIRST), ("commit", "sync", "first"))
_FINISH: Final[Step] = ("finish", FINISH, "async")
_COMES: Final[tuple[Step, ...]] = (("hear", "come"), _FINISH)

_PLAIN: Final[dict[str, Sequence[Step]]] = {
    "m": (
        *_FIRST,
        ("read", SECOND),
        ("say", "come"),
        ("work", WORK),
        ("commit", "async", MARK),
        _FINISH,
    ),
    "a": _COMES,
}
_OLD: Final[dict[str, Sequence[Step]]] = {
    # it hears of a rebalance only in poll, and joins in the next one
    "m": (
        *_FIRST,
        ("read", SECOND),
        ("say", "come"),
        ("work", WORK),
        ("poll",),
        ("work", 0.3),
        ("commit", "async", MARK),
        _FINISH,
    ),
    "a": _COMES,
}
_SLOW: Final[tuple[Step, ...]] = (
    ("hear", "third"),
    ("poll",),
    ("say", "joins"),
    ("keep", 2.0),
    ("say", "there"),
    ("hear", "come"),
    ("work", WORK + AWAITED),
    _FINISH,
)
_REPLACED: Final[tuple[Step, ...]] = (("commit", "async", MARK), ("keep", REPLACED + 1.5))

_HELD: Final = """
  - name: the marked commit
    match: {{api: OffsetCommit, direction: request}}
    where: "topics[].partitions[].committed_metadata | contains(@, 'async-17')"
    do: {{{do}}}
"""
_SAME: Final = "hold: {until: {api: %s, direction: request, same: %s%s}, at_most: %s%s}"

JOINS: Final[dict[Protocol, str]] = {"classic": "JoinGroup", "consumer": "ConsumerGroupHeartbeat"}
"""What gives partitions up."""


def scenario(arm: Arm, protocol: Protocol) -> str:
    """The proxy's scenario of an arm."""
    rules = arm.rules
    if protocol == "consumer":
        # what names the partitions that are still owned is longer than what only says: I am here
        rules = rules.replace("api: JoinGroup", "api: ConsumerGroupHeartbeat, size: {at_least: 180B}")
    return f"version: 1\nrules:{rules or ' []'}\n"


def _hold(same: str, at_most: str, restore: bool = True) -> str:
    put_back = "" if restore else ", restore: false"
    return _HELD.format(do=_SAME % ("JoinGroup", same, "", at_most, put_back))


IN_ORDER: Final = "overtaken, answers in order"

ARMS: Final = (
    Arm("no proxy", "nothing in between", steps=_PLAIN, proxied=False, by="nobody"),
    Arm("proxy, no rule", "a proxy that changes nothing", steps=_PLAIN, by="nobody"),
    Arm(
        IN_ORDER,
        "the JoinGroup behind the commit passes it on the same connection; the client gets the answers in "
        "the order in which it asked",
        _hold("connection", "5s"),
        _PLAIN,
    ),
    Arm(
        "overtaken, answers as they come",
        "the same, and the client gets the answers in the broker's order",
        _hold("connection", "5s", restore=False),
        _PLAIN,
    ),
)
