"""Reads the bodies of requests to the control port, and makes its JSON responses."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from barnabas.captures.kafka.filters import Filter, exchange_filter
from barnabas.proxy.scenario.yaml_lines import MAX_BYTES
from barnabas.specs.json_text import compact


async def read_text(request: Request) -> str:
    """Return a request's body as text.

    Raises:
        HTTPException: The body is too long, incomplete, or not UTF-8.
    """
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise HTTPException(413, f"the body is longer than {MAX_BYTES >> 20} MiB")
    except ClientDisconnect:  # or the proxy stops
        raise HTTPException(400, "the body is not complete") from None
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HTTPException(400, "the body is not UTF-8") from None


def json_response(value: Any, status: int = 200) -> Response:
    """Return a value as a JSON response; NaN and the infinities, which JSON lacks, become text."""
    text = compact(value)
    if "NaN" in text or "Infinity" in text:
        text = compact(_finite(value))
    return json_text_response(text, status)


def _finite(value: Any) -> Any:
    """Return a value in which numbers that JSON lacks are text.

    >>> _finite({"quotas": [float("nan"), 0.5, float("-inf")]})
    {'quotas': ['NaN', 0.5, '-Infinity']}
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def json_text_response(text: str, status: int = 200) -> Response:
    """Return JSON text as a response."""
    return Response(text + "\n", status, media_type="application/json")


def read_filter(request: Request, topics: Mapping[uuid.UUID, str]) -> Filter:
    """Return the filter that a request gives as `filter`; `topics` are names by id."""
    return filter_of(request.query_params.get("filter", ""), topics)


def filter_of(text: str, topics: Mapping[uuid.UUID, str]) -> Filter:
    """Return the filter of an expression; an empty one passes all exchanges.

    Raises:
        HTTPException: The expression is invalid.
    """
    if not text:
        return lambda _: True
    try:
        return exchange_filter(text, topics)
    except ValueError as problem:
        raise HTTPException(400, f"filter: {problem}") from None


async def error_response(_: Request, problem: Exception) -> Response:
    """Return an endpoint's refusal as JSON."""
    assert isinstance(problem, HTTPException)  # noqa: S101 - what it is registered for
    return json_response({"error": problem.detail}, problem.status_code)


async def no_answer(_: Request, problem: Exception) -> Response:
    """Answer 503 and name the workers without which the answer would be wrong."""
    return json_response({"error": str(problem)}, 503)
