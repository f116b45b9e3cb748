"""The option `--otlp`: the collector's URL."""

from __future__ import annotations

import os
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from barnabas.trouble import Trouble

PATH: Final = "/v1/traces"
"""The path of a collector's traces over HTTP, from the specification of OTLP."""

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
    """Return the URL to which spans are sent.

    >>> endpoint_of("http://localhost:4318"), endpoint_of("https://example.org/otlp/v1/traces")
    ('http://localhost:4318/v1/traces', 'https://example.org/otlp/v1/traces')

    Raises:
        Trouble: The URL or the environment is invalid, or the extra is not installed.
    """
    expected = "expected http://HOST:PORT of a collector, e.g. http://localhost:4318"
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        valid = False
    if not valid or parts.query or parts.fragment or parts.username is not None:
        raise Trouble(f"--otlp {url!r}: {expected}")
    from barnabas.cli.traces.environment import check_environment  # this module loads slowly

    path = parts.path.rstrip("/")
    endpoint = parts._replace(path=path if path.endswith(PATH) else path + PATH).geturl()
    check_environment(os.environ, endpoint)
    return endpoint
