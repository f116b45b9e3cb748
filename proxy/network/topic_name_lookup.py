"""Asks a broker for the names of topics that rules lack, on a connection of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import uuid
from collections.abc import Callable, Collection
from typing import Any, Final

from barnabas.captures.kafka.context.id_names import TOPIC, ids_with_names_in
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.sockets import dial
from barnabas.proxy.network.upstream import Upstream
from barnabas.specs.frames import Frame, encode_frame, response_body
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.keys import METADATA
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of

VERSION: Final = 12
"""The first version of Metadata that asks by id (KIP-516): brokers whose clients name topics by id alone
have it."""

CLIENT_ID: Final = "barnabas"


class TopicNameLookup:
    """A task that asks brokers while names are missing, one request at a time.

    `authenticated` returns whether clients use SASL. `note` tells the capture the names, and the time in ns
    since the epoch.
    """

    def __init__(
        self,
        shared: SharedState,
        upstream: Upstream,
        *,
        authenticated: Callable[[], bool],
        note: Callable[[dict[str, Any], int], None],
        say: Callable[[str], None],
    ) -> None:
        self._unresolved = shared.unresolved
        self._topics = shared.topics
        self._upstream = upstream
        self._authenticated = authenticated
        self._note = note
        self._say = say
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Start to ask, unless that is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._ask())

    async def stop(self) -> None:
        """Stop asking."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _ask(self) -> None:
        unresolved, options = self._unresolved, self._upstream.options
        while unresolved:
            await asyncio.sleep(unresolved.pause(clock()) / 1e9)
            ids = unresolved.next(self._topics, clock())
            if not ids:
                continue
            try:
                if self._authenticated():
                    raise OSError("they require SASL, and the proxy has no credentials")
                tls = options.tls
                names = await topic_names(
                    ids,
                    self._upstream.addresses(None),
                    None if tls.broker is None else (tls.broker, tls.server_name),
                    patience=options.connect_timeout,
                    largest=options.limits.frame,
                )
            except (OSError, Malformed) as problem:
                reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
                reason = f"can't ask the brokers: {reason}"
                if unresolved.failed(reason, clock()):
                    self._say(
                        f"topic ID not yet resolved, a rule needs its name: {reason}; "
                        "a client's next Metadata request will resolve it"
                    )
            else:
                self._topics.update(names)
                now = clock()
                unresolved.answered(ids, names, now)
                named = {uuid_text(topic): name for topic, name in names.items()}
                self._note({"barnabas": "topics", "names": named}, now)


def question(ids: Collection[uuid.UUID]) -> bytes:
    """Return the frame of a Metadata request for these topics, which creates none."""
    header = {"correlation_id": 0, "client_id": CLIENT_ID}
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
    """Return the names of those topics that the broker knows.

    Args:
        ids: The ids of the topics.
        addresses: The addresses of brokers, tried in turn.
        tls: The context, and the name that a certificate must have (None: the host).
        patience: The timeout in seconds for everything.
        largest: The most bytes of a response.

    Raises:
        OSError: No broker answers; TimeoutError is an OSError.
        Malformed: The response cannot be read.
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
    names = await asyncio.to_thread(_names, frame)  # it may have 100,000 partitions
    return {topic: names[topic] for topic in ids if topic in names}


def _names(frame: bytes) -> dict[uuid.UUID, str]:
    body = frame[response_body(frame, METADATA, VERSION) :]
    return dict(ids_with_names_in(METADATA, VERSION, "response", body, TOPIC))
