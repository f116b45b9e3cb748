"""Fetch sessions (KIP-227): what a recorded one was about, and the live ones that stand for it.

A session is one broker's, and its partitions may have several leaders now. So a recorded Fetch is made
whole first; taken apart by leaders, each part is asked in that broker's session as a client would: all of
it once, then what is new, changed or no longer wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.peers.replay.routing import topic_of
from barnabas.peers.replay.versions import NAMED

SESSION_ERRORS: Final = frozenset((70, 71, 106))
"""FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR: a client
asks for all again."""

_LAST_EPOCH: Final = (1 << 31) - 1
"""Behind it comes 1: 0 begins a session."""

Entries = dict[tuple[Any, int], tuple[dict[str, Any], dict[str, Any]]]
"""(topic, partition) -> (the topic's own fields, the partition's entry)."""

Place = tuple[int, int]
"""Recorded connection and live broker."""


class _Session(NamedTuple):
    """What the next Fetch of a live session says it is, and what the broker knows."""

    id: int
    epoch: int
    entries: Entries


@dataclass(slots=True)
class FetchSessions:
    """The sessions of each recorded connection, recorded and live."""

    _recorded: dict[int, Entries] = field(default_factory=dict)
    """The partitions of each, as they were last asked for."""
    _live: dict[Place, _Session] = field(default_factory=dict)
    """Sessions whose last Fetch was answered: until then nobody knows what the broker knows."""
    _asked: dict[Place, _Session] = field(default_factory=dict)
    """What they are if it is."""

    def whole(self, connection: int, request: dict[str, Any]) -> dict[str, Any]:
        """The recorded request that asks for all that this one does in its session.

        >>> sessions, partitions = FetchSessions(), [{"partition": 0, "fetch_offset": 5}]
        >>> first = {"session_epoch": 0, "topics": [{"topic": "t", "partitions": partitions}]}
        >>> _ = sessions.whole(1, first)
        >>> then = sessions.whole(1, {"session_id": 9, "session_epoch": 1, "topics": []})
        >>> then["session_epoch"], then["topics"] == first["topics"]
        (1, True)
        """
        epoch = request.get("session_epoch", -1)
        if epoch < 0:
            self._recorded.pop(connection, None)
            return request
        if epoch == 0:
            self._recorded[connection] = {}
        known = self._recorded.setdefault(connection, {})
        known.update(_entries(request))  # the same place again, so that the order stays
        for topic in request.get("forgotten_topics_data") or ():
            for number in topic["partitions"]:
                known.pop((topic_of(topic), number), None)
        return {**request, "topics": _topics(known), "forgotten_topics_data": []}

    def ask(self, place: Place, request: dict[str, Any]) -> dict[str, Any]:
        """What a broker is asked in its session. request: whole, in the live cluster's terms, with the
        recorded epoch: 0 begins a session, -1 wants none. All of it, if the broker has no session.
        """
        session = self._live.pop(place, None)
        self._asked.pop(place, None)
        if "session_epoch" not in request:
            return request
        epoch = request["session_epoch"]
        entries = _entries(request)
        if session is None or epoch <= 0:  # an id beside such an epoch ends its session
            found = {"session_id": session.id if session else 0, "session_epoch": min(epoch, 0)}
            if epoch >= 0:
                self._asked[place] = _Session(0, 1, entries)
            return {**request, **found}
        following = 1 if session.epoch == _LAST_EPOCH else session.epoch + 1
        self._asked[place] = _Session(session.id, following, entries)
        known = session.entries
        return {
            **request,
            "session_id": session.id,
            "session_epoch": session.epoch,
            "topics": _topics({key: one for key, one in entries.items() if known.get(key) != one}),
            "forgotten_topics_data": _forgotten(
                {key: one for key, one in known.items() if key not in entries}
            ),
        }

    def answered(self, place: Place, response: Mapping[str, Any]) -> None:
        """Take what a broker answered: whether it has a session, and which."""
        asked = self._asked.pop(place, None)
        session_id = response.get("session_id", 0)
        if asked is not None and session_id and not response["error_code"]:
            self._live[place] = asked._replace(id=session_id)

    def forget(self, connection: int) -> None:
        """A recorded connection is over."""
        self._recorded.pop(connection, None)
        for sessions in (self._live, self._asked):
            for place in [place for place in sessions if place[0] == connection]:
                del sessions[place]


def _entries(request: dict[str, Any]) -> Entries:
    found: Entries = {}
    for topic in request["topics"]:
        own = {name: value for name, value in topic.items() if name != "partitions"}
        for entry in topic["partitions"]:
            found[topic_of(topic), entry["partition"]] = own, entry
    return found


def _topics(entries: Entries) -> list[dict[str, Any]]:
    topics: dict[Any, dict[str, Any]] = {}
    for (name, _), (own, entry) in entries.items():
        topics.setdefault(name, {**own, "partitions": []})["partitions"].append(entry)
    return list(topics.values())


def _forgotten(entries: Entries) -> list[dict[str, Any]]:
    """These partitions as a request says that it no longer wants them."""
    topics: dict[Any, dict[str, Any]] = {}
    for (topic, number), (own, _) in entries.items():
        named: dict[str, Any] = {name: own[name] for name in NAMED if name in own}
        topics.setdefault(topic, {**named, "partitions": []})["partitions"].append(number)
    return list(topics.values())
