"""Requests of a client id of a check's own, on any connection."""

from __future__ import annotations

from typing import Any

from barnabas.conform.connection import TIMEOUT_S, Connection
from barnabas.conform.response import Response
from barnabas.peers.replay.versions import prune
from barnabas.specs.registry import api as api_named


async def send_as(
    connection: Connection,
    client: str,
    api: str,
    version: int | None = None,
    /,
    seconds: float = TIMEOUT_S,
    **fields: Any,
) -> Response:
    """Send a request with another client id, and return its response.

    Args:
        connection: the connection.
        client: the client id.
        api: the API's name.
        version: the version; the newest offered if absent.
        seconds: how long the response may take.
        fields: fields of the body; others have their default.
    """
    chosen = connection.version(api) if version is None else version
    request = api_named(api).request
    data = request.codec(chosen).encode(prune(fields, request.layout(chosen)))
    await connection.write_body(api, chosen, data, client_id=client)
    return await connection.read(seconds)
