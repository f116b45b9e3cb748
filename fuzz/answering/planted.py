"""The answer that a case puts in the place of a valid one."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.specs.broker_addresses import NodeKind, patch
from barnabas.specs.frames import response_body
from barnabas.specs.malformed import Malformed

ADDRESS: Final = ("127.0.0.1", 9092)
"""Where brokers listen in seeds; the place of the port is filled in where it is found again."""

_CORRELATION: Final = slice(4, 8)
_NAME: Final = re.compile(r"[0-9A-Za-z._:-]{1,253}")
_OWN: Final = frozenset(("127.0.0.1", "localhost"))


@dataclass(slots=True)
class Planted:
    """A case's chunks, for the request of an API and version with this ordinal (from 0) in a session.

    served: whether it was asked for.
    """

    case: Case
    key: int
    version: int
    ordinal: int = 0
    served: bool = False
    _seen: int = 0

    def takes(self, key: int, version: int) -> bool:
        """Whether this request is the one; it is once."""
        if self.served or (key, version) != (self.key, self.version):
            return False
        self._seen += 1
        self.served = self._seen > self.ordinal
        return self.served

    def chunks(self, correlation_id: int, host: str, port: int) -> tuple[bytes, ...]:
        """The bytes to send: with the request's correlation id, unless the case changed it."""
        return filled(self.case, correlation_id, host, port)


def filled(case: Case, correlation_id: int, host: str, port: int) -> tuple[bytes, ...]:
    """A case's chunks with what only the live side knows.

    The correlation id of a seed stands where it stood, if nothing changed it, and so does the port.
    No address is told that is not the bench's own: one that a client could go to is replaced.
    """
    seed = case.recipe.seed
    live = {(one.chunk, one.offset) for one in case.live if one.name == "correlation_id"}
    named = ADDRESS[0].encode() + struct.pack(">i", ADDRESS[1])
    here = host.encode() + struct.pack(">i", port)
    out = []
    for number, chunk in enumerate(case.chunks):
        data = chunk.replace(named, here)
        for at in [offset for which, offset in live if which == number]:
            data = data[:at] + struct.pack(">i", correlation_id) + data[at + 4 :]
        if data[_CORRELATION] == seed.frame[:4]:
            data = data[:4] + struct.pack(">i", correlation_id) + data[8:]
        out.append(_ours(data, seed.key, seed.version, host, port))
    return tuple(out)


def _ours(chunk: bytes, key: int, version: int, host: str, port: int) -> bytes:
    """The chunk without addresses of others; as it is if it can't be read."""

    def resolve(kind: NodeKind, node: int, told: str, at: int) -> tuple[str, int] | None:
        if _NAME.fullmatch(told) is None or not 0 < at < 65536:
            return None  # nobody can go there
        return host if told in _OWN else ADDRESS[0], port

    try:
        body = 4 + response_body(chunk[4:], key, version)
        changed = patch(key, version, chunk[body:], resolve)
    except (Malformed, LookupError, struct.error, IndexError):
        return chunk
    return chunk if changed is None else chunk[:body] + changed
