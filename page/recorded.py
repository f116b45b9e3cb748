"""The rules of a capture: its scenario, and on how many exchanges each rule had fired."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.values.value import Values
from barnabas.page.views import Fed
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.drafts import Drafts
from barnabas.proxy.control.history import History
from barnabas.proxy.control.scenario_edits import EMPTY
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.scenario.file import Scenario, examine


class Fired:
    """Counts exchanges by the rules that fired on them."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def add(self, exchange: Exchange) -> None:
        """Take one."""
        self.count.update(set(exchange.rules))


@dataclass(slots=True)
class Recorded:
    """The endpoints; nothing is applied. text: the scenario that the capture has, or what stands there in its
    place. topics: names by id."""

    history: History
    topics: Mapping[uuid.UUID, str]
    text: object
    reading: Values = field(default_factory=Values)
    """How rules read keys and values of records."""
    _fired: Fired = field(default_factory=Fired, init=False)
    _fed: Fed = field(init=False)

    def __post_init__(self) -> None:
        self._fed = Fed(self._fired)

    @property
    def routes(self) -> list[Route]:
        """Which request each one answers."""
        text = self.text if isinstance(self.text, str) else ""
        found = examine(text)
        scenario = found if isinstance(found, Scenario) else None
        drafts = Drafts(self.history, self.topics, lambda: (scenario, FAULTS), lambda: self.reading)
        return [Route("/scenario", self.scenario), *drafts.routes]

    async def scenario(self, _: Request) -> Response:
        """The scenario's text, and on how many exchanges each rule had fired."""
        state = await self._fed.fresh(self.history)
        text = self.text if isinstance(self.text, str) else EMPTY
        rules = [{"name": name, "fired": fired} for name, fired in self._fired.count.items()]
        return json_response({"text": text, "rules": rules, **state})
