"""What messages do not say themselves: learnt from those that pass, for whoever shows the others.

Fetch from v13 names topics by id only (KIP-516); Metadata and CreateTopics say which id is whose.
SyncGroup before v5 does not say of what kind its group is; JoinGroup does.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from captures.exchange import Exchange
from specs.contents import api
from specs.malformed import Malformed

METADATA: Final = 3
JOIN_GROUP: Final = 11
CREATE_TOPICS: Final = 19

TEACHERS: Final = {METADATA: 10, CREATE_TOPICS: 7}
"""API key -> the first version whose response has topic ids beside names."""

MOST: Final = 100_000
"""Topics that are remembered, and groups."""


class Group(NamedTuple):
    """What a group speaks; None: not known."""

    protocol_type: str | None = None
    protocol_name: str | None = None


@dataclass(slots=True)
class Context:
    """Topic ids and their names; what kind of groups there are."""

    topics: dict[uuid.UUID, str] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)

    def learn(self, exchange: Exchange) -> None:
        """Take what an exchange teaches."""
        if exchange.key == JOIN_GROUP:
            self._group(exchange)
        else:
            self._topics(exchange)

    def _group(self, exchange: Exchange) -> None:
        request, response = exchange.request, exchange.response
        if request is None or not request["protocol_type"] or len(self.groups) >= MOST:
            return
        before = self.groups.get(request["group_id"], Group())
        name = (response or {}).get("protocol_name") or before.protocol_name
        self.groups[request["group_id"]] = Group(request["protocol_type"], name)

    def _topics(self, exchange: Exchange) -> None:
        since = TEACHERS.get(exchange.key)
        if since is None or exchange.version < since or exchange.response_body is None:
            return
        codec = api(exchange.key).response.codec(exchange.version)
        try:
            found = codec.project("topics.name", "topics.topic_id")(exchange.response_body)
        except Malformed:
            return
        for topic in found["topics"]:
            if topic["name"] and topic["topic_id"].int and len(self.topics) < MOST:
                self.topics[topic["topic_id"]] = topic["name"]
