"""One message as rules see it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from captures.context.completing import complete
from captures.exchange import body_version
from specs import api
from specs.frames import Direction
from specs.jsonform import to_json
from specs.malformed import Malformed

_UNREAD: Final[Any] = object()


@dataclass(slots=True)
class Message:
    """A request or response on its way. Sizes are in bytes."""

    direction: Direction
    key: int
    version: int
    client_id: str | None
    broker: int | None
    """Node id, None while it is unknown."""
    connection: int
    """The proxy's number of the connection."""
    ordinal: int
    """Of the connection among that client's to that broker, from 0."""
    group: str | None
    size: int
    body: bytes | None
    """Without the header; None if it was not collected."""
    topics: Mapping[uuid.UUID, str] = field(default_factory=dict, repr=False, compare=False)
    """Names of topics by id, as far as they are known: they complete the fields."""
    unnamed: frozenset[str] = frozenset()
    """Fields that lack a name, once they were looked at: a topic's id is not known."""
    _fields: Any = field(default=_UNREAD, init=False, repr=False, compare=False)

    def fields(self, *names: str) -> dict[str, Any] | None:
        """The body in its JSON form, or just these of its fields; None if it can't be read.

        Where a version has a topic's id in place of its name, the name is there too, or null.
        The whole is decoded once; some of it each time, which costs little.
        """
        if names and self._fields is _UNREAD:
            return self._decode(names)
        if self._fields is _UNREAD:
            self._fields = self._decode(())
        return self._fields  # type: ignore[no-any-return]

    def _decode(self, names: tuple[str, ...]) -> dict[str, Any] | None:
        body = self.body
        if body is None:
            return None
        try:
            version = body_version(self.key, self.version, self.direction, body)
            codec = api(self.key).message(self.direction).codec(version)
            found = codec.project(*names)(body) if names else codec.decode(body)
        except (LookupError, Malformed):
            return None
        self.unnamed |= complete(found, self.key, version, self.direction, self.topics)
        return to_json(found)  # type: ignore[no-any-return]
