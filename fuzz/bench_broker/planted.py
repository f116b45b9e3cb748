"""The response of a case, which replaces a valid one."""

from __future__ import annotations

import hashlib
import re
import struct
from dataclasses import dataclass
from typing import Final

from barnabas.fuzz.cases.case import Case
from barnabas.specs.broker_addresses import NodeKind, patch
from barnabas.specs.frames import response_body
from barnabas.specs.malformed import Malformed

ADDRESS: Final = ("127.0.0.1", 9092)
"""The broker's address in seeds; the live port replaces its port."""

_CORRELATION: Final = slice(4, 8)
_NAME: Final = re.compile(r"[0-9A-Za-z._:-]{1,253}")
_OWN: Final = frozenset(("127.0.0.1", "localhost"))


@dataclass(slots=True)
class PlantedResponse:
    """A case's chunks, sent for the first request of an API and version.

    repeats: they are sent for each further one, too. served: whether the request came.
    """

    case: Case
    key: int
    version: int
    repeats: bool = False
    served: bool = False

    def takes(self, key: int, version: int) -> bool:
        """Return whether this request gets the case's response."""
        if (self.served and not self.repeats) or (key, version) != (self.key, self.version):
            return False
        self.served = True
        return True

    @property
    def digest(self) -> str:
        """Return a text that depends on the case's bytes alone."""
        return hashlib.sha256(b"".join(self.case.chunks)).hexdigest()[:16]

    def chunks(self, correlation_id: int, host: str, port: int) -> tuple[bytes, ...]:
        """Return the bytes to send, with the request's correlation id, unless the case changed it."""
        return filled(self.case, correlation_id, host, port)


def filled(case: Case, correlation_id: int, host: str, port: int) -> tuple[bytes, ...]:
    """Return a case's chunks with the live correlation id and address.

    They replace the seed's correlation id and port wherever the case has them unchanged. An address of
    another host is replaced, so that the client contacts only the bench.
    """
    seed = case.recipe.seed
    live = {(field.chunk, field.offset) for field in case.live if field.name == "correlation_id"}
    named = ADDRESS[0].encode() + struct.pack(">i", ADDRESS[1])
    here = host.encode() + struct.pack(">i", port)
    out = []
    for number, chunk in enumerate(case.chunks):
        data = chunk.replace(named, here)
        for at in [offset for chunk_number, offset in live if chunk_number == number]:
            data = data[:at] + struct.pack(">i", correlation_id) + data[at + 4 :]
        if data[_CORRELATION] == seed.frame[:4]:
            data = data[:4] + struct.pack(">i", correlation_id) + data[8:]
        out.append(_ours(data, seed.key, seed.version, host, port))
    return tuple(out)


def _ours(chunk: bytes, key: int, version: int, host: str, port: int) -> bytes:
    """Return the chunk without addresses of other hosts; unchanged if it can't be decoded."""

    def resolve(kind: NodeKind, node: int, host_named: str, at: int) -> tuple[str, int] | None:
        if _NAME.fullmatch(host_named) is None or not 0 < at < 65536:
            return None  # no client can connect to such an address
        return host if host_named in _OWN else ADDRESS[0], port

    try:
        body = 4 + response_body(chunk[4:], key, version)
        changed = patch(key, version, chunk[body:], resolve)
    except (Malformed, LookupError, struct.error, IndexError):
        return chunk
    return chunk if changed is None else chunk[:body] + changed
