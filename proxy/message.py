"""One message as rules see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from specs import api
from specs.frames import Direction
from specs.headers import API_VERSIONS
from specs.jsonform import to_json
from specs.malformed import Malformed

_UNREAD: Final[Any] = object()
_UNSUPPORTED_VERSION: Final = (35).to_bytes(2)


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
    _fields: Any = field(default=_UNREAD, init=False, repr=False, compare=False)

    def fields(self) -> dict[str, Any] | None:
        """The body in its JSON form, decoded once; None if it is not there or can't be read."""
        if self._fields is _UNREAD:
            self._fields = None if self.body is None else self._decode(self.body)
        return self._fields  # type: ignore[no-any-return]

    def _decode(self, body: bytes) -> Any:
        version = self.version
        answers = self.key == API_VERSIONS and self.direction == "response"
        if answers and body.startswith(_UNSUPPORTED_VERSION):
            version = 0  # KIP-511: this answer has the layout of v0 whatever was asked
        try:
            return to_json(api(self.key).message(self.direction).codec(version).decode(body))
        except (LookupError, Malformed):
            return None
