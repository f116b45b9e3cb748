"""The page of the HTTP API: its requests and what they answer, from the document that is served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from barnabas.api_version import PREFIX
from barnabas.page.api import PageContent, api
from barnabas.page.openapi import document
from barnabas.proxy.control.api import routes
from barnabas.proxy.control.history import History
from barnabas.testing.server.api import routes as routes_of_tests
from tests.docs.reference.markdown import block, code, default, page, prose, table

Schema = Mapping[str, Any]


def control() -> str:
    """The page."""
    unused: Any = None  # routes do not depend on what they are about
    live = document(routes(unused, unused, unused, unused, unused))
    paged = document(api(PageContent(History(), {"name": "", "kind": "live"})))
    of_tests = document(routes_of_tests(unused))
    types: dict[str, Schema] = {}
    for each in live, paged, of_tests:
        types |= each["components"]["schemas"]
    return page(
        "HTTP API",
        f"All paths begin with the API's version, `{PREFIX}`. Every request needs the token, as "
        "`Authorization: Bearer TOKEN`. The API is served on loopback only. An error is "
        '`{"error": "..."}` with a status of 4xx or 5xx. `/openapi.json` describes the API in OpenAPI 3.1.',
        block(
            f'curl -H "Authorization: Bearer $(cat token)" http://127.0.0.1:9999{PREFIX}/status',
            "sh",
        ),
        "The server refuses requests with another host in `Host` or another `Origin` than the page's, so "
        "that no web page can use the API.",
        "## A proxy",
        "`barnabas proxy --control HOST:PORT` serves these requests; [Steer a running "
        "proxy](../howto/control.md) shows the commands.",
        _requests(live["paths"]),
        "`GET /exchanges/stream` sends server-sent events. `GET /metrics` has a HELP line for each metric.",
        "With `--workers` or `--control` other processes, the workers, carry the connections. If a "
        "worker does not answer within 2 s, `/connections`, `/breakpoints`, the paths below them and `/log` "
        "return status 503 and an error that names the worker. The worker does not carry out the request "
        "later. `/status`, `/scenario` and the requests about rules name the worker in `missing_workers`; "
        "`/metrics` counts it in `barnabas_missing_workers`. Its counts are those of its last answer, and "
        "it applies a change of rules when it continues.",
        "## The page",
        "`barnabas proxy --web` and `barnabas open` serve these requests, too.",
        _requests(paged["paths"]),
        "## Tests",
        "`barnabas serve-tests` serves these requests; [Tests in any language](../howto/any-language.md) "
        "shows how. Below `/tests/{test}` are also all requests about a proxy, except `/log` and `/drain`.",
        _requests(
            {
                path: methods
                for path, methods in of_tests["paths"].items()
                if path.removeprefix("/tests/{test}") not in live["paths"]
            }
        ),
        "## Types",
        "Later versions may add fields: ignore fields that you do not know.",
        *(part for name in sorted(types) for part in _type(name, types[name])),
    )


def _requests(paths: Schema) -> str:
    rows = (
        (code(f"{method.upper()} {path}"), prose(one["summary"]), _asked(one), _answer(one))
        for path, methods in paths.items()
        for method, one in methods.items()
    )
    return table(("request", "what it does", "parameters, body", "response"), rows)


def _asked(operation: Schema) -> str:
    said = [code(each["name"]) for each in operation.get("parameters", ()) if each["in"] == "query"]
    content = operation.get("requestBody", {}).get("content", {})
    said += [_content(kind, each["schema"]) for kind, each in content.items()]
    return ", ".join(said)


def _answer(operation: Schema) -> str:
    content = operation["responses"]["2XX"]["content"]
    return ", ".join(_content(kind, each["schema"]) for kind, each in content.items())


def _content(media: str, schema: Schema) -> str:
    """A type, or the media type of what has none."""
    return _kind(schema) if schema and schema != {"type": "string"} else code(media)


def _type(name: str, schema: Schema) -> Iterator[str]:
    yield f"### {name}"
    yield prose(schema.get("description"))
    needed = schema.get("required", ())
    rows = (
        (
            code(each),
            _kind(one),
            "" if each in needed else default(one.get("default")) or "may be absent",
        )
        for each, one in schema.get("properties", {}).items()
    )
    yield table(("field", "type", "default"), rows)


def _kind(schema: Schema) -> str:
    """A type in words."""
    match schema:
        case {"$ref": str(where)}:
            name = where.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": list(some)}:
            return " or ".join(map(_kind, some))
        case {"enum": list(words)}:
            return " or ".join(map(code, words))
        case {"const": word}:
            return code(word)
        case {"type": "array", "prefixItems": list(some)}:
            return f"[{', '.join(map(_kind, some))}]"
        case {"type": "array"}:
            return f"list of {_kind(schema.get('items', {}))}"
        case {"type": "object", "additionalProperties": dict(inner)}:
            return f"by name: {_kind(inner)}"
        case {"type": str(word)}:
            return word
    return "any"
