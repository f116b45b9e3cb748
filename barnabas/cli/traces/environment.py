"""Checks of the environment variables of OpenTelemetry's SDK, before anything starts.

The SDK ignores invalid values and reports that only in its log, or raises when it is imported or with the
first spans. The endpoint and the timeout are not read from the environment.
https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from barnabas.cli.console.extras import needs
from barnabas.cli.console.pem import Named, check_authority, load_pair
from barnabas.trouble import Trouble

_COMPRESSIONS: Final = ("gzip", "deflate", "none")


def check_environment(environment: Mapping[str, str], endpoint: str) -> None:
    """Raise Trouble for an invalid variable, and if the extra is not installed.

    Then the SDK's logger is silenced, since its lines would mix with the log.
    """
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
    try:
        with needs("--otlp", "otlp"):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.util.re import parse_env_headers
    except ValueError as problem:  # the SDK reads its limits when it is imported
        raise Trouble(str(problem)) from None
    name, value = _given(environment, "COMPRESSION")
    if value and value.strip().lower() not in _COMPRESSIONS:
        raise Trouble(f"{name}={value}: expected one of {', '.join(_COMPRESSIONS)}")
    _check_pairs(
        *_given(environment, "HEADERS"), lambda part: bool(parse_env_headers(part, liberal=True))
    )
    name = "OTEL_RESOURCE_ATTRIBUTES"
    _check_pairs(name, environment.get(name, ""), lambda part: "=" in part)
    _check_files(environment)
    try:
        OTLPSpanExporter(endpoint)
    except (ValueError, RuntimeError) as problem:
        raise Trouble(f"--otlp: {' '.join(str(problem).split())}") from None


def _given(environment: Mapping[str, str], suffix: str) -> tuple[str, str]:
    """Return the name and the value of the exporter's variable; the one for traces has priority."""
    names = (f"OTEL_EXPORTER_OTLP_TRACES_{suffix}", f"OTEL_EXPORTER_OTLP_{suffix}")
    name = next(filter(environment.get, names), names[-1])
    return name, environment.get(name, "")


def _check_pairs(name: str, value: str, fine: Callable[[str], bool]) -> None:
    """Raise Trouble for invalid pairs, without their values: they may be tokens."""
    parts = value.split(",")
    for number, part in enumerate(parts, 1):
        if part.strip() and not fine(part):
            position = f"part {number} of {len(parts)}" if len(parts) > 1 else "it"
            raise Trouble(f"{name}: expected NAME=VALUE,... but {position} is not")


def _check_files(environment: Mapping[str, str]) -> None:
    authority, certificate, key = (
        Named(name, Path(value)) if value else None
        for name, value in (
            _given(environment, suffix)
            for suffix in ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY")
        )
    )
    if authority is not None and not authority.path.is_dir():
        check_authority(*authority)
    if certificate is not None:
        other = certificate.name.replace("CERTIFICATE", "KEY")
        load_pair(ssl.create_default_context(), certificate, key, other)
    elif key is not None:
        other = key.name.replace("KEY", "CERTIFICATE")
        raise Trouble(f"{key.name} belongs to a certificate: give {other} too")
