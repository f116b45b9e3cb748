"""Fetch sessions (KIP-227): the partitions of recorded ones, and the live ones that stand for them.

A session belongs to one broker, and its partitions may have several leaders now. So a recorded Fetch is
completed first; then each leader's part is sent in that broker's session as a client would: all partitions
once, then new, changed and forgotten ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from barnabas.peers.replay.routing import topic_of
from barnabas.peers.replay.versions import NAMED

SESSION_ERRORS: Final = frozenset((70, 71, 106))
"""FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH, FETCH_SESSION_TOPIC_ID_ERROR: a client then
fetches all partitions."""

_LAST_EPOCH: Final = (1 << 31) - 1
"""After it comes 1: 0 begins a session."""

Entries = dict[tuple[Any, int], tuple[dict[str, Any], dict[str, Any]]]
"""(topic, partition) -> (the topic's other fields, the partition's entry)."""

SessionKey = tuple[int, int]
"""Recorded connection and live broker."""


class _Session(NamedTuple):
    """Id and epoch of a live session's next Fetch, and the partitions that the broker has in it."""

    id: int
    epoch: int
    entries: Entries


@dataclass(slots=True)
class FetchSessions:
    """The fetch sessions of each recorded connection, recorded and live."""

    _recorded: dict[int, Entries] = field(default_factory=dict)
    """The partitions of each recorded session, as last requested."""
    _live: dict[SessionKey, _Session] = field(default_factory=dict)
    """Sessions whose last Fetch has a response: before it, the broker's state is unknown."""
    _asked: dict[SessionKey, _Session] = field(default_factory=dict)
    """Sessions as they will be after a response without an error."""

    def whole(self, connection: int, request: dict[str, Any]) -> dict[str, Any]:
        """Return a recorded Fetch with all partitions of its session.

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
        known.update(_entries(request))  # the same position again, so that the order stays
        for topic in request.get("forgotten_topics_data") or ():
            for number in topic["partitions"]:
                known.pop((topic_of(topic), number), None)
        return {**request, "topics": _topics(known), "forgotten_topics_data": []}

    def ask(self, session_key: SessionKey, request: dict[str, Any]) -> dict[str, Any]:
        """Return the Fetch to send in a broker's live session; with all partitions, if there is no session.

        Args:
            session_key: recorded connection and live broker.
            request: whole, in the live cluster's terms, with the recorded epoch: 0 begins a session, -1
                requests none.
        """
        session = self._live.pop(session_key, None)
        self._asked.pop(session_key, None)
        if "session_epoch" not in request:
            return request
        epoch = request["session_epoch"]
        entries = _entries(request)
        if session is None or epoch <= 0:  # such an epoch with an id ends its session
            session_fields = {
                "session_id": session.id if session else 0,
                "session_epoch": min(epoch, 0),
            }
            if epoch >= 0:
                self._asked[session_key] = _Session(0, 1, entries)
            return {**request, **session_fields}
        following = 1 if session.epoch == _LAST_EPOCH else session.epoch + 1
        self._asked[session_key] = _Session(session.id, following, entries)
        known = session.entries
        return {
            **request,
            "session_id": session.id,
            "session_epoch": session.epoch,
            "topics": _topics(
                {key: entry for key, entry in entries.items() if known.get(key) != entry}
            ),
            "forgotten_topics_data": _forgotten(
                {key: entry for key, entry in known.items() if key not in entries}
            ),
        }

    def learn_response(self, key: SessionKey, response: Mapping[str, Any]) -> None:
        """Learn from a response whether the broker has a session, and its id."""
        session = self._asked.pop(key, None)
        session_id = response.get("session_id", 0)
        if session is not None and session_id and not response["error_code"]:
            self._live[key] = session._replace(id=session_id)

    def forget(self, connection: int) -> None:
        """Forget the sessions of a closed recorded connection."""
        self._recorded.pop(connection, None)
        for sessions in (self._live, self._asked):
            for key in [key for key in sessions if key[0] == connection]:
                del sessions[key]


def _entries(request: dict[str, Any]) -> Entries:
    entries: Entries = {}
    for topic in request["topics"]:
        topic_fields = {name: value for name, value in topic.items() if name != "partitions"}
        for entry in topic["partitions"]:
            entries[topic_of(topic), entry["partition"]] = topic_fields, entry
    return entries


def _topics(entries: Entries) -> list[dict[str, Any]]:
    topics: dict[Any, dict[str, Any]] = {}
    for (name, _), (topic_fields, entry) in entries.items():
        topics.setdefault(name, {**topic_fields, "partitions": []})["partitions"].append(entry)
    return list(topics.values())


def _forgotten(entries: Entries) -> list[dict[str, Any]]:
    """Return partitions in the form of `forgotten_topics_data`."""
    topics: dict[Any, dict[str, Any]] = {}
    for (topic, number), (topic_fields, _) in entries.items():
        named: dict[str, Any] = {name: topic_fields[name] for name in NAMED if name in topic_fields}
        topics.setdefault(topic, {**named, "partitions": []})["partitions"].append(number)
    return list(topics.values())
