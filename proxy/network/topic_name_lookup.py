"""Learns the names of topics that rules lack, from a broker."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping

from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.sockets import reason_of
from barnabas.proxy.network.topic_name_client import topic_names
from barnabas.proxy.topic_names.names import TopicNames
from barnabas.proxy.topic_names.questions import Questions
from barnabas.specs.malformed import Malformed


async def look_up(
    questions: Questions,
    topics: TopicNames,
    options: Options,
    *,
    addresses: Callable[[], list[Address]],
    authenticated: Callable[[], bool],
    told: Callable[[Mapping[uuid.UUID, str], int], None],
    say: Callable[[str], None],
) -> None:
    """Ask for as long as any name is lacking.

    addresses: those of brokers, tried in turn. authenticated: whether clients authenticate by SASL.
    told: gets the names that brokers tell, and when (ns since the epoch).
    """
    while questions:
        await asyncio.sleep(questions.pause(clock()) / 1e9)
        ids = questions.next(topics, clock())
        if not ids:
            continue
        try:
            if authenticated():
                raise OSError("they want SASL, and only their clients can say who they are")
            tls = options.tls
            names = await topic_names(
                ids,
                addresses(),
                None if tls.broker is None else (tls.broker, tls.server_name),
                patience=options.connect_timeout,
                largest=options.limits.frame,
            )
        except (OSError, Malformed) as problem:
            reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
            reason = f"the brokers can't be asked for it: {reason}"
            if questions.failed(reason, clock()):
                say(
                    f"a rule lacks the name of a topic id: {reason}; "
                    "it is known when a client next asks for Metadata"
                )
        else:
            topics.update(names)
            now = clock()
            questions.answered(ids, names, now)
            told(names, now)
