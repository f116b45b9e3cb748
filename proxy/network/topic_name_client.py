"""Asking a broker for the names of topics, on a connection of its own."""

from __future__ import annotations

import asyncio
import ssl
import uuid
from collections.abc import Collection
from typing import Final

from barnabas.captures.kafka.context.id_names import TOPIC, ids_with_names_in
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.sockets import dial
from barnabas.specs.frames import Frame, encode_frame, response_body
from barnabas.specs.keys import METADATA

VERSION: Final = 12
"""The first version of Metadata that asks by id (KIP-516): brokers whose clients name topics by id
alone have it."""

CLIENT_ID: Final = "barnabas"


def question(ids: Collection[uuid.UUID]) -> bytes:
    """The frame of a Metadata request for these topics, which creates none."""
    header = {
        "request_api_key": METADATA,
        "request_api_version": VERSION,
        "correlation_id": 0,
        "client_id": CLIENT_ID,
    }
    body = {
        "topics": [{"topic_id": topic, "name": None} for topic in ids],
        "allow_auto_topic_creation": False,
    }
    return encode_frame(Frame("request", METADATA, VERSION, header, body))


async def topic_names(
    ids: Collection[uuid.UUID],
    addresses: list[Address],
    tls: tuple[ssl.SSLContext, str | None] | None,
    *,
    patience: float,
    largest: int,
) -> dict[uuid.UUID, str]:
    """The names of those that the broker knows.

    addresses: those of brokers, tried in turn. tls: the context, and the name that a certificate must
    have (None: the host). patience: seconds for all of it. largest: bytes of an answer.

    Raises OSError, which TimeoutError is, too, and Malformed.
    """
    async with asyncio.timeout(patience):
        sock, host = await dial(addresses, patience)
        try:
            context, name = tls or (None, None)
            reader, writer = await asyncio.open_connection(
                sock=sock, ssl=context, server_hostname=(name or host) if context else None
            )
        except BaseException:
            sock.close()
            raise
        try:
            writer.write(question(ids))
            size = int.from_bytes(await reader.readexactly(4))
            if size > largest:
                raise OSError(f"a response of {size} bytes; the limit is {largest}")
            frame = await reader.readexactly(size)
        except asyncio.IncompleteReadError:
            raise ConnectionAbortedError("the broker closed the connection") from None
        finally:
            writer.transport.abort()
    found = await asyncio.to_thread(_names, frame)  # it may have 100,000 partitions
    return {topic: found[topic] for topic in ids if topic in found}


def _names(frame: bytes) -> dict[uuid.UUID, str]:
    body = frame[response_body(frame, METADATA, VERSION) :]
    return dict(ids_with_names_in(METADATA, VERSION, "response", body, TOPIC))
