"""What is wrong with variables of the environment is said in a line, before anything begins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import trustme
from opentelemetry.exporter.otlp.proto.http import trace_exporter

from barnabas.cli.traces.environment import check_environment
from barnabas.trouble import COULD_NOT_RUN, MISUSE, Trouble
from tests.barnabas.cli.test_app import BARNABAS
from tests.places import ROOT

ENDPOINT = "https://localhost:4318/v1/traces"
EXPORTER = "OTEL_EXPORTER_OTLP_"
ONE_OF = "expected one of gzip, deflate, none"
PAIRS = "expected NAME=VALUE,..."
NO_PEM = "no such certificate or key in PEM format (encrypted keys are not supported)"


@pytest.fixture
def pem(tmp_path: Path) -> Path:
    ca = trustme.CA()
    leaf, other = ca.issue_cert("me"), ca.issue_cert("other")
    ca.cert_pem.write_to_path(str(tmp_path / "ca"))
    leaf.cert_chain_pems[0].write_to_path(str(tmp_path / "cert"))
    leaf.private_key_pem.write_to_path(str(tmp_path / "key"))
    leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "both"))
    other.private_key_pem.write_to_path(str(tmp_path / "others"))
    return tmp_path


def given(pem: Path, **values: str) -> dict[str, str]:
    return {EXPORTER + name: value.replace("@", f"{pem}/") for name, value in values.items()}


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"COMPRESSION": " GZIP"},
        {"COMPRESSION": "brotli", "TRACES_COMPRESSION": "none"},
        {"HEADERS": "authorization=Bearer%20a, x = y z,"},
        {"CERTIFICATE": "@ca", "CLIENT_CERTIFICATE": "@cert", "CLIENT_KEY": "@key"},
        {"CERTIFICATE": "@", "TRACES_CLIENT_CERTIFICATE": "@both"},
        {"TIMEOUT": "soon", "ENDPOINT": "nowhere"},
    ],
)
def test_what_can_be_followed(pem: Path, values: dict[str, str]) -> None:
    check_environment(given(pem, **values), ENDPOINT)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"COMPRESSION": "brotli"}, f"_COMPRESSION=brotli: {ONE_OF}"),
        ({"COMPRESSION": "gzip", "TRACES_COMPRESSION": "x"}, f"_TRACES_COMPRESSION=x: {ONE_OF}"),
        ({"HEADERS": "secret"}, f"_HEADERS: {PAIRS} but it is not"),
        ({"HEADERS": "a=b,secret"}, f"_HEADERS: {PAIRS} but part 2 of 2 is not"),
        ({"HEADERS": "a=secret;x"}, f"_HEADERS: {PAIRS} but it is not"),
        ({"CERTIFICATE": "@none"}, "_CERTIFICATE @none: No such file or directory"),
        ({"CERTIFICATE": "@key"}, f"_CERTIFICATE @key: {NO_PEM}"),
        ({"CLIENT_CERTIFICATE": "@none"}, "_CLIENT_CERTIFICATE @none: No such file or directory"),
        (
            {"CLIENT_CERTIFICATE": "@cert"},
            f"_CLIENT_CERTIFICATE @cert: {NO_PEM}; is the key in another file? give {EXPORTER}CLIENT_KEY",
        ),
        (
            {"CLIENT_CERTIFICATE": "@cert", "CLIENT_KEY": "@others"},
            f"_CLIENT_CERTIFICATE @cert {EXPORTER}CLIENT_KEY @others: the key does not belong to "
            f"the certificate",
        ),
        (
            {"TRACES_CLIENT_KEY": "@key"},
            f"_TRACES_CLIENT_KEY belongs to a certificate: give {EXPORTER}TRACES_CLIENT_CERTIFICATE too",
        ),
    ],
)
def test_what_can_not(pem: Path, values: dict[str, str], said: str) -> None:
    with pytest.raises(Trouble) as problem:
        check_environment(given(pem, **values), ENDPOINT)
    assert str(problem.value) == "OTEL_EXPORTER_OTLP" + said.replace("@", f"{pem}/")
    assert problem.value.code == MISUSE
    assert "secret" not in str(problem.value)


def test_attributes_of_the_resource() -> None:
    name = "OTEL_RESOURCE_ATTRIBUTES"
    check_environment({name: "a=b, c=d=e"}, ENDPOINT)
    with pytest.raises(Trouble, match=f"^{name}: expected NAME=VALUE,... but it is not$"):
        check_environment({name: "a"}, ENDPOINT)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "OTEL_PYTHON_EXPORTER_OTLP_HTTP_TRACES_CREDENTIAL_PROVIDER",
            "--otlp: Requested component 'x' not found in entry point",
        ),
        (
            "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
            "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT must be a non-negative integer but got x",
        ),
        (f"{EXPORTER}HEADERS", f"{EXPORTER}HEADERS: expected NAME=VALUE,..."),
    ],
)
@pytest.mark.slow("a process for each")
@pytest.mark.parametrize("command", ["decode", "proxy"])
def test_what_the_sdk_raises_or_logs_is_one_line(command: str, name: str, said: str) -> None:
    """In a process of its own: the SDK reads some of them once."""
    capture = str(ROOT / "captures" / "samples" / "sasl.pcapng")
    arguments = {"decode": (capture,), "proxy": ("-b", "localhost:1", "--listen", "127.0.0.1:0")}
    done = subprocess.run(
        [*BARNABAS, command, *arguments[command], "--otlp", "http://localhost:1"],
        env={**os.environ, name: "x"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == MISUSE, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"barnabas: {said}")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, trace_exporter.__name__, None)
    with pytest.raises(Trouble, match=r"barnabas with the extra 'otlp'") as problem:
        check_environment({}, ENDPOINT)
    assert problem.value.code == COULD_NOT_RUN
