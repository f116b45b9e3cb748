"""The arms of the experiment with an overtaken commit: the members' steps, and the proxy's scenario.

A member (`m`) reads and commits some records of each of its partitions, reads some more, and commits these
with a mark; a second member (`a`) has joined meanwhile. Arms differ by the request that overtakes the marked
commit, and by the place where it does. `a` sorts before `m`, so that partitions move; `z` is a third member
for which all others wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

Protocol = Literal["classic", "consumer"]
Step = tuple[Any, ...]

CASES: Final[tuple[tuple[str, Protocol], ...]] = (
    ("0.11.0.1", "classic"),
    ("4.3.1", "classic"),
    ("4.3.1", "consumer"),
)
"""Versions and protocols of the experiments with groups of two."""
MARK: Final = "async-17"
"""The metadata of the commit that is to be overtaken."""
RECORDS: Final = 120
"""Records in the topic, in two partitions."""
EACH: Final = 10
"""Records of each partition that are read at a time, and so many that the marked commit is about."""
BATCH: Final = 5
"""Records a poll."""
SESSION, HEARTBEAT = 6.0, 0.3
"""Seconds."""
WORK: Final = 2.0
"""Seconds in which the member does not poll while the other one joins: some heartbeats."""
AWAITED: Final = 3.0
"""Seconds by which the third member is later, so that a late commit arrives meanwhile."""
REPLACED: Final = 13.0
"""Seconds without a response after which a client closes a connection."""
REFUSED: Final = 6.0
"""Seconds after which a commit is refused: time to read on and to send a newer one. Later requests on the
connection wait, too."""
LONG_SESSION: Final = 12.0
"""Seconds: where nothing is to be over but a connection, or heartbeats wait."""
CONSUMER_SESSION: Final = 2 * REPLACED
"""Seconds; in the consumer protocol it is the broker that sets it, and for all groups."""
FINISH: Final = 45.0
"""Timeout of a run in seconds."""


class Arm(NamedTuple):
    """An arm of the experiment. rules: of the proxy's scenario. steps: of each member, by its letter."""

    name: str
    description: str
    steps: Mapping[str, Sequence[Step]]
    rules: str = ""
    proxied: bool = True
    listens: bool = False
    """Whether `m` commits in onPartitionsRevoked, with commitSync."""
    replaced: bool = False
    """Whether `m` closes a connection without a response."""
    client: str = ""
    """The client's version; empty: the broker's."""
    by: Literal["m", "a", "newer"] = "m"
    """The sender of the JoinGroup that is to overtake the commit; "newer": the commit's repetition is to be
    overtaken by a newer commit."""

    def fits(self, version: str, protocol: Protocol) -> bool:
        """Check that the arm can run: only in classic groups all wait for one member."""
        return (protocol == "classic" or "z" not in self.steps) and (
            not self.client or version.startswith("0.")
        )


_FIRST: Final[tuple[Step, ...]] = (("settle", 2), ("read", EACH), ("commit", "sync", "first"))
_COME: Final[tuple[Step, ...]] = (("say", "come"), ("work", WORK))
_FINISH: Final[Step] = ("finish", FINISH, "async")
_COMES: Final[tuple[Step, ...]] = (("hear", "come"), _FINISH)
_MARKED: Final[Step] = ("commit", "async", MARK)
_THIRD: Final[tuple[Step, ...]] = (("settle", 2), ("say", "third"), ("settle", 1))
_SLOW: Final[tuple[Step, ...]] = (
    ("hear", "third"),
    ("settle", 1),
    ("hear", "come"),
    ("work", WORK + AWAITED),
    _FINISH,
)
_REPLACED: Final[Step] = ("keep", REPLACED + 1.5)


def _members(*steps: Step) -> dict[str, Sequence[Step]]:
    """Return the steps of two members: `a` comes at a signal, and reads until all is read."""
    return {"m": (*_FIRST, *steps, ("rejoin",), _FINISH), "a": _COMES}


def _three(*steps: Step) -> dict[str, Sequence[Step]]:
    """Return the steps of three members: the group waits for the third one."""
    script = (*_THIRD, *_FIRST[1:], *steps, ("rejoin",), _FINISH)
    return {"m": script, "a": _COMES, "z": _SLOW}


_PLAIN: Final = _members(("read", EACH), *_COME, _MARKED)


def _rule(*faults: str) -> str:
    """Return the proxy's rule for the marked commit."""
    return f"""
  - name: the marked commit
    match: {{api: OffsetCommit, direction: request}}
    where: "contains(topics[].partitions[].committed_metadata, '{MARK}')"
    do: [{", ".join(faults)}]
"""


def _hold(until: str, at_most: str = "5s", *, restore: bool = True) -> str:
    condition = f"until: {{api: JoinGroup, direction: request, {until}}}, at_most: {at_most}"
    return f"{{hold: {{{condition}{'' if restore else ', restore: false'}}}}}"


_SAME: Final = "same: connection"
# connections do not wait for each other: the second half leaves when the first message has arrived
_LATER: Final = "{slice: {size: 90B, every: 100ms}}"
_ELSEWHERE: Final = _rule(_hold('client_id: "*.m", same: group', "40s"), _LATER)
_REFUSED: Final = _rule(
    f"{{delay: {REFUSED:g}s}}", "{respond: {error: COORDINATOR_LOAD_IN_PROGRESS}}"
)

ARMS: Final = (
    Arm("no proxy", "client and broker alone", _PLAIN, proxied=False),
    Arm("proxy without a rule", "a proxy that changes nothing", _PLAIN),
    Arm(
        "same connection",
        "the JoinGroup behind the commit passes it on the way; the client gets the answers in the order "
        "in which it asked",
        _PLAIN,
        _rule(_hold(_SAME)),
    ),
    Arm(
        "same, answers not put back",
        "the same, but the client gets the answers in the broker's order",
        _PLAIN,
        _rule(_hold(_SAME, restore=False)),
    ),
    Arm(
        "other connection",
        "the commit is not answered in request.timeout.ms, so the client closes its connection; the "
        "JoinGroup goes on a new one and arrives first, and completes the rebalance",
        _members(("read", EACH), _MARKED, _REPLACED, *_COME),
        _ELSEWHERE,
        replaced=True,
    ),
    Arm(
        "other, a third awaited",
        "the client closes the connection on which the commit is not answered, as in `other connection`, "
        "but the group still waits for another member when the commit arrives",
        _three(("read", EACH), _MARKED, _REPLACED, *_COME),
        _ELSEWHERE,
        replaced=True,
    ),
    Arm(
        "the other member's join",
        "the commit arrives behind the JoinGroup of the member that comes",
        _members(("read", EACH), _MARKED, *_COME),
        _rule(_hold('client_id: "*.a", same: group'), _LATER),
        by="a",
    ),
    Arm(
        "listener, same connection",
        "as `same connection`, with commitSync in onPartitionsRevoked; the commit is held for 2 s at most",
        _PLAIN,
        _rule(_hold(_SAME, "2s")),
        listens=True,
    ),
    Arm(
        "listener, other connection",
        "as `other connection`; more is read behind the marked commit, and committed by the listener",
        _members(("read", EACH), _MARKED, _REPLACED, ("read", EACH), *_COME),
        _ELSEWHERE,
        listens=True,
        replaced=True,
    ),
    Arm(
        "listener, other, awaited",
        "the same, and the group still waits for another member when the older commit arrives",
        _three(("read", EACH), _MARKED, _REPLACED, ("read", EACH), *_COME),
        _ELSEWHERE,
        listens=True,
        replaced=True,
    ),
    Arm(
        "retry in the callback",
        "the marked commit fails (COORDINATOR_LOAD_IN_PROGRESS), a newer one does not, and the callback "
        "of the first commits the same offsets again",
        _members(
            ("read", EACH),
            ("commit", "again", MARK),
            ("read", EACH),
            ("commit", "async", "newer"),
            ("keep", REFUSED + 1.0),
            *_COME,
        ),
        _REFUSED,
        by="newer",
    ),
    Arm(
        "client of 0.10.0.1",
        "as `same connection`; this client learns of a rebalance in poll, and waits for "
        "what is under way before it joins. The commit is held for 1.5 s at most",
        _members(("read", EACH), *_COME, ("poll", 0), ("work", 0.3), _MARKED),
        _rule(_hold(_SAME, "1500ms")),
        client="0.10.0.1",
    ),
)
"""All arms in the order of the report."""


def scenario(arm: Arm, version: str, protocol: Protocol) -> str:
    """Return the proxy's scenario. The sizes hold for groups with names of five characters.

    In the consumer protocol a heartbeat gives partitions up: it is longer than one that only keeps the member
    alive, since it names the remaining partitions, and shorter than a full one. Since 2.2 (KIP-394) a new
    member joins a classic group twice, and the second JoinGroup counts.
    """
    rules = arm.rules
    if protocol == "consumer":
        low, high = (0, 1000) if arm.by == "a" else (80, 95)
        joins = f"api: ConsumerGroupHeartbeat, size: {{at_least: {low}B, at_most: {high}B}}"
        rules = rules.replace("api: JoinGroup", joins)
    elif arm.by == "a" and not version.startswith("0."):
        rules = rules.replace("api: JoinGroup", "api: JoinGroup, size: {at_least: 220B}")
    return f"version: 1\nrules:{rules or ' []'}\n"


def session(arm: Arm, version: str, protocol: Protocol) -> float:
    """Return the session timeout of an arm's members, in seconds."""
    if protocol == "consumer":
        return CONSUMER_SESSION
    if arm.replaced and not version.startswith("0."):
        # a client with one heartbeat in flight sends no further one until its response; those of 0. send on,
        # and want request.timeout.ms to be the longer one
        return 2 * REPLACED
    # the rebalance timeout of 0.10.0 is the session timeout
    waits = arm.replaced or arm.client or arm.by == "newer"
    return LONG_SESSION if waits else SESSION


def groups(
    arm: Arm, names: Sequence[str], version: str, protocol: Protocol
) -> dict[str, list[dict[str, Any]]]:
    """Return the members of each group for `FollowingClient.follow`."""
    classic = {
        "session.timeout.ms": f"{session(arm, version, protocol) * 1000:.0f}",
        "heartbeat.interval.ms": f"{HEARTBEAT * 1000:.0f}",
    }
    common = {
        "max.poll.records": str(BATCH),
        **(classic if protocol == "classic" else {"group.protocol": "consumer"}),
    }
    patience = {"request.timeout.ms": f"{REPLACED * 1000:.0f}"}
    return {
        name: [
            {
                "settings": {
                    **common,
                    "group.id": name,
                    "client.id": f"{name}.{letter}",
                    **(patience if arm.replaced and letter == "m" else {}),
                },
                "steps": steps,
                "commits_when_revoked": arm.listens and letter == "m",
            }
            for letter, steps in arm.steps.items()
        ]
        for name in names
    }


def two_members(
    name: str, protocol: Protocol, *steps: Step, how: str = "sync"
) -> list[dict[str, Any]]:
    """Return the members of a group: `m` reads and follows steps, and `a` joins meanwhile.

    how: the way in which `m` commits after that.
    """
    m = [("settle", 2), ("read", EACH), *steps, ("rejoin",), ("finish", FINISH, how)]
    a = [("hear", "come"), ("finish", FINISH, "sync")]
    return groups(Arm("", "", {"m": m, "a": a}), [name], "", protocol)[name]


BROKER: Final = {
    "group.min.session.timeout.ms": "500",
    "group.coordinator.rebalance.protocols": "classic,consumer",
    "group.consumer.heartbeat.interval.ms": f"{HEARTBEAT * 1000:.0f}",
    "group.consumer.min.heartbeat.interval.ms": f"{HEARTBEAT * 1000:.0f}",
    "group.consumer.session.timeout.ms": f"{CONSUMER_SESSION * 1000:.0f}",
    "group.consumer.min.session.timeout.ms": "500",
}
"""Settings of brokers; old ones ignore unknown ones with a log line."""
LEVELS: Final = {"kafka.request.logger": "DEBUG", "kafka.coordinator.group": "INFO"}
