"""Asks brokers for the names of topics that rules lack."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.topic_name_client import topic_names
from barnabas.proxy.network.upstream import Upstream
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.malformed import Malformed
from barnabas.trouble import reason_of


class TopicNameLookup:
    """Asks while there are questions, one at a time.

    authenticated: whether clients authenticate by SASL. note: tells the capture what brokers said, and
    when (ns since the epoch).
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
        self._questions = shared.questions
        self._topics = shared.topics
        self._upstream = upstream
        self._authenticated = authenticated
        self._note = note
        self._say = say
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Ask, unless that is under way."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._ask())

    async def stop(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _ask(self) -> None:
        questions, options = self._questions, self._upstream.options
        while questions:
            await asyncio.sleep(questions.pause(clock()) / 1e9)
            ids = questions.next(self._topics, clock())
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
                if questions.failed(reason, clock()):
                    self._say(
                        f"topic ID not yet resolved, a rule needs its name: {reason}; "
                        "a client's next Metadata request will resolve it"
                    )
            else:
                self._topics.update(names)
                now = clock()
                questions.answered(ids, names, now)
                named = {uuid_text(topic): name for topic, name in names.items()}
                self._note({"barnabas": "topics", "names": named}, now)
