"""`--otlp`: where the collector is."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from barnabas.trouble import COULD_NOT_RUN, Trouble

PATH: Final = "/v1/traces"
"""Of a collector's receiver of traces over HTTP, as the specification of OTLP has it."""

NEEDED: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

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
    """Where spans go. Raises Trouble for what is no URL of a collector, and where the extra is missing.

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
    for name in NEEDED:
        try:
            there = find_spec(name) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            line = f"--otlp needs the package {name}: pip install 'barnabas[otlp]'"
            raise Trouble(line, COULD_NOT_RUN)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith(PATH) else path + PATH).geturl()
