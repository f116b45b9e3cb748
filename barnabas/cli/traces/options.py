"""`--otlp`: where the collector is."""

from __future__ import annotations

import os
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from barnabas.trouble import Trouble

PATH: Final = "/v1/traces"
"""Of a collector's receiver of traces over HTTP, as the specification of OTLP has it."""

Otlp = Annotated[
    str | None,
    typer.Option(
        "--otlp",
        metavar="URL",
        help="Send a span for each exchange to this collector (OTLP over HTTP), "
        "e.g. http://localhost:4318.",
        rich_help_panel="Traces",
    ),
]


def endpoint_of(url: str) -> str:
    """Where spans go. Raises Trouble for what is no URL of a collector, or if none can be sent there.

    >>> endpoint_of("http://localhost:4318"), endpoint_of("https://example.org/otlp/v1/traces")
    ('http://localhost:4318/v1/traces', 'https://example.org/otlp/v1/traces')
    """
    expected = "http://HOST:PORT of a collector is expected, e.g. http://localhost:4318"
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        known = False
    if not known or parts.query or parts.fragment or parts.username is not None:
        raise Trouble(f"--otlp {url!r}: {expected}")
    from barnabas.cli.traces.environment import check_environment  # takes its time to load

    path = parts.path.rstrip("/")
    endpoint = parts._replace(path=path if path.endswith(PATH) else path + PATH).geturl()
    check_environment(os.environ, endpoint)
    return endpoint
