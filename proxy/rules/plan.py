"""Decides for each API, version and direction which messages can pass unread."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.captures.kafka.context.sessions import KEYS as SESSION_KEYS
from barnabas.proxy.edits.edits import needs_body
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.proxy.matching.contents import is_declared
from barnabas.proxy.rules.rules import REMEMBERED, Rules
from barnabas.proxy.topic_names.names import teaches
from barnabas.specs.dialects import Dialect, dialect
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS, SASL_HANDSHAKE
from barnabas.specs.node_endpoints import ends_with_endpoints

SASL = (SASL_HANDSHAKE, 36)
"""SaslHandshake and SaslAuthenticate: rare, and read for the log."""

Hides = Callable[[Direction, int], bool]
"""(direction, API key) -> whether a capture must mask something in such a message."""


def code(key: int, version: int) -> int:
    """Return an API key and version as one number, the key of the hot path's tables."""
    return key << 16 | version & 0xFFFF


def skimmable(key: int, version: int) -> bool:
    """Return whether such messages may pass unread.

    Messages after a SASL handshake may have no header.
    """
    return is_declared(key, version) and key != SASL_HANDSHAKE


class Plan:
    """The treatment of each API, version and direction under some rules, shared by all connections."""

    def __init__(
        self,
        rules: Rules,
        offer: Offer | None = None,
        hides: Hides | None = None,
        *,
        quotes: bool = True,
    ) -> None:
        self.rules = rules
        spoken = None if rules.scenario is None else rules.scenario.dialect
        self.dialect: Dialect | None = None if spoken is None else dialect(spoken)
        """The dialect of connections that begin under the plan; None for Kafka's protocol."""
        self.offer = offer or Offer()
        self.hides = hides
        """Returns which messages must be masked for the capture; None if there is no capture."""
        self.quotes = quotes
        """Whether error messages may quote bytes; False if payload is hidden."""
        self._whole: dict[tuple[Direction, int, int], bool] = {}

    def watched(self, direction: Direction, key: int, version: int) -> bool:
        """Return whether a rule may wait for such a message to pass."""
        waits_for = self.rules.waits_for
        return any(match.key_matches(direction, key, version) for match, _ in waits_for)

    def too_new(self, key: int, version: int) -> bool:
        """Return whether such a request is an ApiVersions request in a version that is not offered."""
        return key == API_VERSIONS and version > self.offer.newest_api_versions

    def asks(self, key: int, version: int) -> bool:
        """Return whether the body of such a request is needed when its response arrives."""
        return self.follows_session(key) or any(
            match.key_matches("response", key, version) for match in self.rules.needs_request
        )

    def follows_session(self, key: int) -> bool:
        """Return whether the messages of an API change a session of which a rule needs the partitions."""
        return self.rules.needs_sessions and key in SESSION_KEYS

    def whole(self, direction: Direction, key: int, version: int) -> bool:
        """Return whether every such message must be whole before it leaves, whatever rules decide."""
        whole = self._whole.get((direction, key, version))
        if whole is None:
            whole = self._is_whole(direction, key, version)
            if len(self._whole) < REMEMBERED:
                self._whole[direction, key, version] = whole
        return whole

    @property
    def captured(self) -> bool:
        """Return whether a capture is written, which shows each altered message whole."""
        return self.hides is not None

    def _is_whole(self, direction: Direction, key: int, version: int) -> bool:
        if key in SASL or (self.hides is not None and self.hides(direction, key)):
            return True
        if self.too_new(key, version):
            return True
        if direction == "response":
            if is_declared(key, version) and (
                self.follows_session(key)
                or (needs_body(key, version) and not ends_with_endpoints(key, version))
                or teaches(key, version)
            ):
                return True
        elif self.offer.excludes(key, version):
            return True
        elif self.rules.needs_group and (
            self.rules.candidates("response", key, version)
            or self.watched("response", key, version)
        ):
            return True  # only the request names the group
        elif self.asks(key, version):
            return True
        return self.watched(direction, key, version)
