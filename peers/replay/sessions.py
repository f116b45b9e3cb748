"""What recorded fetch sessions were about (KIP-227): each Fetch is sent whole, without a session.

A session is one broker's, and its partitions may have several leaders now; and not each cluster gives
out sessions. What an incremental Fetch leaves out is known from those before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from peers.replay.routing import topic_of

NO_SESSION: Final = {"session_id": 0, "session_epoch": -1}


@dataclass(slots=True)
class FetchSessions:
    """The partitions of the session of each recorded connection, as they were last asked for."""

    _asked: dict[int, dict[tuple[Any, int], tuple[dict[str, Any], dict[str, Any]]]] = field(
        default_factory=dict
    )
    """Connection -> (topic, partition) -> (the topic's own fields, the partition's entry)."""

    def whole(self, connection: int, request: dict[str, Any]) -> dict[str, Any]:
        """The request that asks for all that this one does in its session.

        >>> sessions, partitions = FetchSessions(), [{"partition": 0, "fetch_offset": 5}]
        >>> first = {"session_epoch": 0, "topics": [{"topic": "t", "partitions": partitions}]}
        >>> _ = sessions.whole(1, first)
        >>> then = sessions.whole(1, {"session_id": 9, "session_epoch": 1, "topics": []})
        >>> then["session_epoch"], then["topics"] == first["topics"]
        (-1, True)
        """
        epoch = request.get("session_epoch", -1)
        if epoch < 0:
            self._asked.pop(connection, None)
            return request
        if epoch == 0:
            self._asked[connection] = {}
        known = self._asked.setdefault(connection, {})
        for topic in request["topics"]:
            own = {name: value for name, value in topic.items() if name != "partitions"}
            for entry in topic["partitions"]:
                # the same place again, so that the order stays
                known[topic_of(topic), entry["partition"]] = own, entry
        for topic in request.get("forgotten_topics_data") or ():
            for number in topic["partitions"]:
                known.pop((topic_of(topic), number), None)
        topics: dict[Any, dict[str, Any]] = {}
        for (name, _), (own, entry) in known.items():
            topics.setdefault(name, {**own, "partitions": []})["partitions"].append(entry)
        return {
            **request,
            **NO_SESSION,
            "topics": list(topics.values()),
            "forgotten_topics_data": [],
        }

    def forget(self, connection: int) -> None:
        """A recorded connection is over."""
        self._asked.pop(connection, None)
