"""The API as an OpenAPI 3.1 document, made from the routes that are served."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from pydantic import BaseModel, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from barnabas.api_version import PREFIX
from barnabas.page.answers import breakpoints, common, exchanges, rules, tests, views
from barnabas.proxy.control.bodies import json_response
from barnabas.proxy.control.request_models import Assertions, DraftRequest, NewTest, WaitFor

ANSWERS: Final[dict[str, Any]] = {
    "GET /source": exchanges.Source,
    "GET /columns": list[exchanges.Column],
    "GET /exchanges": list[tests.Exchange],
    "GET /exchanges/follow": exchanges.StreamLine,
    "GET /exchanges/rows": list[exchanges.Row],
    "GET /exchanges/order": list[int],
    "GET /exchanges/retries": exchanges.RetryNumbers,
    "GET /values": list[common.Json],
    "GET /bookmarks": list[exchanges.Bookmark],
    "PUT /bookmarks/{number}": exchanges.BookmarkCount,
    "DELETE /bookmarks/{number}": exchanges.BookmarkCount,
    "GET /exchanges/{number}": exchanges.Detail,
    "GET /overview": views.Overview,
    "GET /groups": views.Groups,
    "GET /transactions": views.Transactions,
    "GET /topics": views.Topics,
    "GET /latency": views.Latency,
    "GET /sequence": views.Sequence,
    "GET /scenario": rules.Scenario,
    "PUT /scenario": rules.Scenario,
    "POST /scenario/rules": rules.Scenario,
    "DELETE /scenario/rules/{name}": rules.Scenario,
    "POST /scenario/rules/{name}/fire": rules.Rule,
    "POST /scenario/rules/{name}/release": rules.Rule,
    "POST /scenario/check": rules.ScenarioProblems,
    "POST /scenario/try": rules.ScenarioTrial,
    "POST /scenario/draft": rules.Draft,
    "GET /breakpoints": list[breakpoints.Waiting],
    "GET /breakpoints/{id}": breakpoints.WaitingMessage,
    "POST /breakpoints/{id}": breakpoints.Decision,
    "GET /tests": list[tests.Test],
    "POST /tests": tests.Test,
    "GET /tests/{test}": tests.Test,
    "DELETE /tests/{test}": tests.Test,
    "POST /rules": rules.Scenario,
    "POST /wait_for": tests.MatchCount,
    "POST /assert": tests.AssertionResults,
}
"""The types of responses; others are any JSON, or have the media type in OTHERS."""

OTHERS: Final = {
    "GET /exchanges/follow": "application/jsonl",
    "GET /exchanges/stream": "text/event-stream",
    "GET /figures/stream": "text/event-stream",
    "GET /metrics": "text/plain",
    "POST /take": "application/octet-stream",
    "GET /report": "text/plain",
    "GET /capture": "application/vnd.tcpdump.pcap",
}
"""The media types of responses that are not JSON."""

QUERY_PARAMETERS: Final = {
    "GET /exchanges/follow": ("after", "filter"),
    "GET /exchanges/rows": ("numbers",),
    "GET /exchanges/order": ("order", "filter"),
    "GET /exchanges/retries": ("after",),
    "GET /values": ("column",),
    "GET /exchanges": ("last", "filter", "since"),
    "GET /report": ("since",),
    "GET /exchanges/stream": ("filter",),
    "GET /figures/stream": ("interval",),
    "GET /log": ("api", "error", "filter"),
    "GET /groups": ("group",),
    "GET /sequence": ("from", "to", "connection", "client", "group"),
    "POST /scenario/try": ("last",),
    "POST /connections/{number}/step": ("direction",),
}
"""Parameters in the query, all of them optional."""

BODIES: Final[dict[str, str | type[BaseModel]]] = {
    "PUT /scenario": "application/yaml",
    "POST /scenario/rules": "application/yaml",
    "POST /scenario/check": "application/yaml",
    "POST /scenario/try": "application/yaml",
    "POST /scenario/draft": DraftRequest,
    "POST /breakpoints/{id}": "application/yaml",
    "POST /take": "application/json",
    "PUT /bookmarks/{number}": "text/plain",
    "POST /rules": "application/yaml",
    "POST /tests": NewTest,
    "POST /wait_for": WaitFor,
    "POST /assert": Assertions,
}
"""The media types of requests' bodies, or the models of their JSON."""

_REFUSED: Final = {
    "type": "object",
    "properties": {"error": {"type": "string"}},
    "required": ["error"],
}


def document(routes: Iterable[BaseRoute]) -> dict[str, Any]:
    """Return the OpenAPI document of routes, without the API's version in the paths.

    >>> inner = Mount("/tests/{test}", routes=[Route("/a/{b:path}", _no_answer)])
    >>> list(document([inner])["paths"])
    ['/tests/{test}/a/{b}']
    """
    paths: dict[str, dict[str, Any]] = {}
    schemas: dict[str, Any] = {}
    for prefix, route in _every(routes):
        path = re.sub(r":\w+}", "}", route.path)
        parameters = [*re.findall(r"{(\w+)", prefix + path)]
        for method in sorted((route.methods or set()) - {"HEAD"}):
            operation = _operation(f"{method} {path}", route, parameters, schemas)
            paths.setdefault(prefix + path, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "barnabas", "version": PREFIX.removeprefix("/v")},
        "servers": [{"url": PREFIX}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    }


def _every(routes: Iterable[BaseRoute], prefix: str = "") -> Iterator[tuple[str, Route]]:
    """Yield all routes, each with the path at which it is mounted."""
    for route in routes:
        if isinstance(route, Route):
            yield prefix, route
        elif isinstance(route, Mount):
            yield from _every(route.routes, prefix + route.path)


def _operation(
    name: str, route: Route, path_parameters: list[str], schemas: dict[str, Any]
) -> dict[str, Any]:
    """Describe a request.

    Args:
        name: Method and path as in the tables, without the path at which it is mounted.
        route: The route that serves the request.
        path_parameters: The names of parameters in the path.
        schemas: Gets the schemas of named types.
    """
    answer = _schema(ANSWERS[name], schemas) if name in ANSWERS else {}
    parameters = [
        {"name": each, "in": "path", "required": True, "schema": {"type": "string"}}
        for each in path_parameters
    ] + [
        {"name": each, "in": "query", "schema": {"type": "string"}}
        for each in QUERY_PARAMETERS.get(name, ())
    ]
    body: dict[str, Any] = {}
    if name in BODIES:
        kind, text = BODIES[name], {"type": "string"}
        content = (
            {kind: {"schema": text}}
            if isinstance(kind, str)
            else {"application/json": {"schema": _schema(kind, schemas)}}
        )
        body = {"requestBody": {"content": content}}
    return {
        "summary": " ".join((route.endpoint.__doc__ or "").split()),
        **({"parameters": parameters} if parameters else {}),
        **body,
        "responses": {
            "2XX": {
                "description": "what was asked for",
                "content": {OTHERS.get(name, "application/json"): {"schema": answer}},
            },
            "4XX": {
                "description": "refused",
                "content": {"application/json": {"schema": _REFUSED}},
            },
            "5XX": {
                "description": "not done: workers do not answer, or there are too many streams",
                "content": {"application/json": {"schema": _REFUSED}},
            },
        },
    }


def _schema(type_: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; named schemas are added to `schemas` and referenced."""
    schema = TypeAdapter(type_).json_schema(
        ref_template="#/components/schemas/{model}", mode="serialization"
    )
    schemas.update(schema.pop("$defs", {}))
    if schema.get("type") != "object":
        return schema
    schemas[schema["title"]] = schema
    return {"$ref": f"#/components/schemas/{schema['title']}"}


def described(routes: Iterable[BaseRoute]) -> list[BaseRoute]:
    """Return the routes and the request for their OpenAPI document."""

    async def openapi(_: Request) -> Response:
        """Return this document."""
        return json_response(document(every))

    every = [*routes, Route("/openapi.json", openapi)]
    return every


async def _no_answer(_: Request) -> Response:
    """Return an empty response, for the doctest of `document`."""
    return Response()
