"""Which messages can pass unread: decided once for each API, version and direction."""

from __future__ import annotations

from collections.abc import Callable

from proxy.edits import NEWEST_API_VERSIONS, needs_body
from proxy.rules import Rules
from specs import NAMES, api
from specs.frames import Direction
from specs.headers import API_VERSIONS

SASL_HANDSHAKE = 17
SASL = (SASL_HANDSHAKE, 36)
"""SaslHandshake and SaslAuthenticate: few, and read for what the log says of them."""

Hides = Callable[[Direction, int], bool]
"""(direction, key of an API) -> whether there may be something in such a message."""


def code(key: int, version: int) -> int:
    """An API and version as one number, for sets in the hot path."""
    return key << 16 | version & 0xFFFF


def known(key: int, version: int) -> bool:
    """Whether an API and version is declared."""
    return key in NAMES and api(key).versions[0] <= version <= api(key).versions[1]


class Plan:
    """What each kind of message needs, under some rules. Shared by all connections of a proxy."""

    def __init__(self, rules: Rules, hides: Hides | None = None) -> None:
        self.rules = rules
        self.hides = hides
        """Which messages must be whole to be masked for the capture; None: there is none."""
        self.quiet: dict[Direction, set[int]] = {"request": set(), "response": set()}
        """Kinds of messages that pass without a look at their body; filled as they are met."""

    def watched(self, direction: Direction, key: int, version: int) -> bool:
        """Whether some rule may wait for such a message to pass."""
        waits_for = self.rules.waits_for
        return any(match.key_matches(direction, key, version) for match, _ in waits_for)

    def must_be_whole(self, direction: Direction, key: int, version: int) -> bool:
        """Whether a message of this kind is read whole before any of it leaves."""
        if key in SASL or (self.hides is not None and self.hides(direction, key)):
            return True
        if direction == "response":
            if known(key, version) and needs_body(key, version):
                return True
        elif key == API_VERSIONS and version > NEWEST_API_VERSIONS:
            return True
        elif self.rules.needs_group and self._touched("response", key, version):
            return True  # only the request names the group
        return self._touched(direction, key, version)

    def _touched(self, direction: Direction, key: int, version: int) -> bool:
        """Whether some rule is about such a message, or may wait for it."""
        return bool(self.rules.candidates(direction, key, version)) or self.watched(
            direction, key, version
        )

    def note(self, direction: Direction, key: int, version: int) -> None:
        """Remember a kind of message that was met, if it can pass unread from now on."""
        # what follows a SASL handshake may have no header, so that one is never skimmed
        skimmable = known(key, version) and key != SASL_HANDSHAKE
        if skimmable and not self.must_be_whole(direction, key, version):
            self.quiet[direction].add(code(key, version))
