"""The rules of a capture: its scenario, and the number of exchanges on which each rule fired."""

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
from barnabas.page.views import FedViews
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.drafts import Drafts
from barnabas.proxy.control.history import History
from barnabas.proxy.control.scenario_edits import EMPTY
from barnabas.proxy.faults import FAULTS
from barnabas.proxy.scenario.file import Scenario, examine


class FiredCounter:
    """Counts of exchanges by the rules that fired on them."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()

    def add(self, exchange: Exchange) -> None:
        """Count an exchange."""
        self.count.update(set(exchange.rules))


@dataclass(slots=True)
class Recorded:
    """The requests for the rules of a capture, which change nothing.

    text: The scenario in the capture, or the value in its place. topics: Names by id.
    """

    history: History
    topics: Mapping[uuid.UUID, str]
    text: object
    reading: Values = field(default_factory=Values)
    """Decodes keys and values of records for rules."""
    _fired: FiredCounter = field(default_factory=FiredCounter, init=False)
    _fed: FedViews = field(init=False)

    def __post_init__(self) -> None:
        self._fed = FedViews(self._fired)

    @property
    def routes(self) -> list[Route]:
        """Return the routes of the requests."""
        text = self.text if isinstance(self.text, str) else ""
        examined = examine(text)
        scenario = examined if isinstance(examined, Scenario) else None
        drafts = Drafts(self.history, self.topics, lambda: (scenario, FAULTS), lambda: self.reading)
        return [Route("/scenario", self.scenario), *drafts.routes]

    async def scenario(self, _: Request) -> Response:
        """Return the scenario's text, and on how many exchanges each rule fired."""
        state = await self._fed.fresh(self.history)
        text = self.text if isinstance(self.text, str) else EMPTY
        rules = [{"name": name, "fired": fired} for name, fired in self._fired.count.items()]
        return json_response({"text": text, "rules": rules, **state})
