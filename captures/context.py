"""What messages do not say themselves: learnt from those that pass, for whoever shows the others.

Fetch from v13 names topics by id only (KIP-516); Metadata and CreateTopics say which id is whose.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Final

from captures.exchange import Exchange
from specs.contents import api
from specs.malformed import Malformed

METADATA: Final = 3
CREATE_TOPICS: Final = 19

TEACHERS: Final = {METADATA: 10, CREATE_TOPICS: 7}
"""API key -> the first version whose response has topic ids beside names."""

MOST: Final = 100_000
"""Topics that are remembered."""


@dataclass(slots=True)
class Context:
    """Topic ids and their names."""

    topics: dict[uuid.UUID, str] = field(default_factory=dict)

    def learn(self, exchange: Exchange) -> None:
        """Take what an exchange teaches."""
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
