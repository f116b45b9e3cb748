"""The page over a running proxy."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import partial

from starlette.routing import Route
from starlette.types import ASGIApp

from barnabas.captures.capture import open_capture
from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.context import Context
from barnabas.cli.proxy.job import Job
from barnabas.cli.proxy.traffic import Traffic
from barnabas.page.api import PageContent, application
from barnabas.page.forms import Origin
from barnabas.proxy.control.target import Target


def paged(job: Job, keeps: int, traffic: Traffic, steering: list[Route]) -> ASGIApp:
    """Return the page and the requests that steer the proxy, without the guard."""
    _, target, history, topics, _ = traffic
    name = ", ".join(map(endpoint_text, job.options.bootstrap))
    source = {"kind": "live", "name": name, "keeps": keeps}
    origin, reading = _origin(name, job, target, topics), job.options.reading
    content = PageContent(history, source, origin=origin, reading=reading)
    return application(content, steering)


def _origin(name: str, job: Job, target: Target, topics: Mapping[uuid.UUID, str]) -> Origin:
    """Return the origin of the page's exchanges. It has the current scenario, but no earlier ones."""

    def context() -> Context:
        context_before = Context()
        context_before.topics.update(topics)
        return context_before

    def scenarios() -> list[tuple[int, str]]:
        scenario = target.scenario
        return [] if scenario is None else [(0, scenario.meta()["scenario"])]

    capture, faults = job.capture.capture, job.options.faults
    packets = None if capture is None else partial(open_capture, capture)
    return Origin(name, packets, scenarios, faults, context)
