"""The page's chains of retries: which exchanges are attempts of the same request."""

from __future__ import annotations

from collections import deque
from itertools import takewhile

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.checks.retries import Retries
from barnabas.captures.kafka.exchange import Exchange
from barnabas.page.exchanges import after_of
from barnabas.page.views import FedViews
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.history import History


class RetryChains:
    """The request for retries. Chains are computed once for all pages, when one asks for them."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._recognised = Retries()
        self._retries: deque[tuple[int, int]] = deque()
        """The number of each retry that is held, and of the first attempt."""
        self._fed = FedViews(self)

    @property
    def routes(self) -> list[Route]:
        """Return the route of the request."""
        return [Route("/exchanges/retries", self.retries)]

    def add(self, exchange: Exchange) -> None:
        """Note an exchange if it is a retry, and drop retries that are not held any more."""
        retry = self._recognised.retry(exchange, self._history.context, self._fed.after)
        if retry.times:
            self._retries.append((self._fed.after, retry.first))
        while self._retries and self._retries[0][0] < self._history.first:
            self._retries.popleft()

    async def retries(self, request: Request) -> Response:
        """Return the retries after exchange `after`: the number of each, and of its first attempt.

        The exchanges after the `after` of the response are not examined yet.
        """
        after = after_of(request)
        await self._fed.fresh(self._history)
        new = list(takewhile(lambda retry: retry[0] > after, reversed(self._retries)))
        return json_response({"retries": new[::-1], "after": self._fed.after})
