"""Exchanges as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).

`exchange` has the content of `views.exchange`; `lost` counts the exchanges for which the reader was too slow;
`end` means that the proxy stops. A comment now and then shows that the stream is alive.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from barnabas.captures.kafka.filters import Filter
from barnabas.proxy.control import views
from barnabas.proxy.control.history import History
from barnabas.specs.json_text import compact

ALIVE: Final = 15.0
"""Seconds between two comments while no exchange comes."""


def event(name: str, data: Any) -> str:
    r"""Return one event.

    >>> event("lost", {"count": 2})
    'event: lost\ndata: {"count":2}\n\n'
    """
    return f"event: {name}\ndata: {compact(data)}\n\n"


async def events(history: History, passes: Filter, alive: float = ALIVE) -> AsyncIterator[str]:
    """Yield the exchanges from now on that pass a filter, as events.

    The first text is empty and comes at once: exchanges are followed from then on.

    Raises:
        TooMany: There are enough followers.
    """
    with history.follow(passes) as follower:
        yield ""
        while True:
            if follower.lost:
                lost, follower.lost = follower.lost, 0
                yield event("lost", {"count": lost})
            try:
                async with asyncio.timeout(alive):
                    exchange = await follower.next()
            except TimeoutError:
                yield ": alive\n\n"
                continue
            if exchange is not None:
                yield event("exchange", views.exchange(exchange, history.context))
                await asyncio.sleep(0)  # traffic has its turn, however many wait here
            elif follower.over and not follower.lost:
                yield event("end", {})
                return
