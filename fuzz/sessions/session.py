"""What every session is: a sans-IO generator of valid requests that ends with what it came to know."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, NamedTuple

from barnabas.fuzz.sessions.live import Values
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.registry import api

CLIENT_ID: Final = "barnabas"
"""Of all that sessions ask; brokers begin a member's id with it."""

TOPIC: Final = "fuzz-topic"
"""The topic of all sessions, of one partition or more; made where it is not there."""


class Ask(NamedTuple):
    """A valid request."""

    key: int
    version: int
    body: Mapping[str, Any]


class Stage(NamedTuple):
    """What a session begins with. offered: API key -> versions that the broker takes, both ends
    included; empty: not known. number: its own, so that no two have a group or a transaction in common.
    who: whose password the broker knows; None: the user's of a broker that is started for a campaign.
    """

    offered: Mapping[int, tuple[int, int]]
    number: int = 0
    who: Credentials | None = None

    def version(self, key: int, most: int = 32767) -> int:
        """The newest version that both sides know, at most this one. Raises Unoffered."""
        low, high = api(key).versions
        if self.offered:
            if key not in self.offered:
                raise Unoffered(f"the broker does not offer {api(key).name}")
            low, high = max(low, self.offered[key][0]), min(high, self.offered[key][1])
        if min(high, most) < low:
            raise Unoffered(f"the broker offers {api(key).name} from version {low}")
        return min(high, most)

    @property
    def group_id(self) -> str:
        """A group of its own, of a fixed length."""
        return f"fuzz-group-{self.number % 1000000:06}"

    @property
    def transactional_id(self) -> str:
        """A transactional id of its own, of a fixed length."""
        return f"fuzz-txn-{self.number % 1000000:06}"


class Unoffered(Exception):
    """The broker lacks what a session needs: the case goes without it."""


class Stuck(Exception):
    """The broker refused a valid step, with the error code that it gave."""


Steps = Generator[Ask, Mapping[str, Any], Values]
"""Is sent each decoded response; returns the live values by name. Raises Unoffered or Stuck."""


class Session(NamedTuple):
    """needs: what the broker must offer. keys: the APIs that a case may come with behind it. lasts: how
    many cases one run is good for. body: a valid body of an API in a version behind it,
    live values being stand-ins of their size. others: further ones, each with a name. before_login: a
    connection of it does not log in first, where others must. bare: a case is a token without a header, which
    is `auth_bytes` of the body (KIP-43)."""

    name: str
    about: str
    needs: tuple[int, ...]
    keys: frozenset[int]
    lasts: int
    run: Callable[[Stage], Steps]
    body: Callable[[int, int], Mapping[str, Any] | None]
    others: Callable[[int, int], Iterable[tuple[str, Mapping[str, Any]]]] = lambda key, version: ()
    before_login: bool = False
    bare: bool = False
