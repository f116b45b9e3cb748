"""Which messages can pass unread: decided for each API, version and direction."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.proxy.edits.edits import needs_body
from barnabas.proxy.edits.version_ranges import Offer
from barnabas.proxy.matching.kinds import known
from barnabas.proxy.rules.rules import REMEMBERED, Rules
from barnabas.proxy.topic_names.names import teaches
from barnabas.specs.dialects import Dialect, dialect
from barnabas.specs.frames import Direction
from barnabas.specs.keys import API_VERSIONS, SASL_HANDSHAKE
from barnabas.specs.node_endpoints import ends_with_endpoints

SASL = (SASL_HANDSHAKE, 36)
"""SaslHandshake and SaslAuthenticate: few, and read for what the log says of them."""

Hides = Callable[[Direction, int], bool]
"""(direction, key of an API) -> whether there may be something in such a message."""


def code(key: int, version: int) -> int:
    """An API and version as one number, for sets in the hot path."""
    return key << 16 | version & 0xFFFF


def skimmable(key: int, version: int) -> bool:
    """Whether such messages may pass unread: what follows a SASL handshake may have no header."""
    return known(key, version) and key != SASL_HANDSHAKE


class Plan:
    """What each kind of message needs, under some rules. Shared by all connections of a proxy."""

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
        """The dialect of connections that begin under the plan; None: Kafka's protocol."""
        self.offer = offer or Offer()
        self.hides = hides
        """Which messages must be whole to be masked for the capture; None: there is none."""
        self.quotes = quotes
        """Whether it may be told what bytes are that can't be read; else payload is hidden."""
        self._whole: dict[tuple[Direction, int, int], bool] = {}

    def watched(self, direction: Direction, key: int, version: int) -> bool:
        """Whether some rule may wait for such a message to pass."""
        waits_for = self.rules.waits_for
        return any(match.key_matches(direction, key, version) for match, _ in waits_for)

    def too_new(self, key: int, version: int) -> bool:
        """Whether such a request asks which versions there are in one that is not offered itself."""
        return key == API_VERSIONS and version > self.offer.newest_api_versions

    def asks(self, key: int, version: int) -> bool:
        """Whether some rule must know of a response to such a request what the request said."""
        return any(
            match.key_matches("response", key, version) for match in self.rules.needs_request
        )

    def whole(self, direction: Direction, key: int, version: int) -> bool:
        """Whether all messages of this kind are read whole before any of it leaves, whatever the
        rules would say of them."""
        found = self._whole.get((direction, key, version))
        if found is None:
            found = self._is_whole(direction, key, version)
            if len(self._whole) < REMEMBERED:
                self._whole[direction, key, version] = found
        return found

    @property
    def captured(self) -> bool:
        """Whether a capture is written: it shows whole what left otherwise than it came."""
        return self.hides is not None

    def _is_whole(self, direction: Direction, key: int, version: int) -> bool:
        if key in SASL or (self.hides is not None and self.hides(direction, key)):
            return True
        if self.too_new(key, version):
            return True
        if direction == "response":
            if known(key, version) and (
                (needs_body(key, version) and not ends_with_endpoints(key, version))
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
