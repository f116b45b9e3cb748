"""The OpenTelemetry Collector takes the spans, and passes on what they say."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.peers.clients.cache import folder, run
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import go
from tests.barnabas.cli.test_app import BARNABAS
from tests.barnabas.cli.traces.collector import Collector, Received, collecting
from tests.places import ROOT
from tests.ports import free_port

SOURCES = Path(__file__).parent / "otelcol"
FAULTS = ROOT / "captures" / "samples" / "faults.pcapng"
PATIENCE = 30.0


@pytest.fixture(scope="module")
def program() -> Path:
    """The Collector with OTLP in and out, built where there is none of these sources yet."""
    text = "".join(path.read_text() for path in sorted(SOURCES.iterdir()))
    try:
        with folder("otelcol-go") as place:
            built, of = place / "collector", place / "built-of"
            if not (built.exists() and of.exists() and of.read_text() == text):
                shutil.copytree(SOURCES, place, dirs_exist_ok=True)
                environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOWORK": "off"}
                line = [go(), "build", "-o", str(built), "."]
                run("the Collector can't be built", line, within=place, environment=environment)
                of.write_text(text)
            return built
    except UnavailableClientError as problem:
        pytest.skip(str(problem))


@contextmanager
def forwarding(program: Path, to: Collector) -> Iterator[str]:
    """A Collector that sends all it gets there; its URL."""
    address = f"127.0.0.1:{free_port()}"
    config = {
        "receivers::otlp::protocols::http::endpoint": address,
        "exporters::otlp_http::endpoint": to.url,
        "service::pipelines::traces::receivers": "[otlp]",
        "service::pipelines::traces::exporters": "[otlp_http]",
        "service::telemetry::metrics::level": "none",
    }
    lines = [f"--config=yaml:{name}: {value}" for name, value in config.items()]
    process = subprocess.Popen([str(program), *lines], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if "Everything is ready" in line:
                break
        else:
            raise AssertionError(said)
        yield f"http://{address}"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def decode(url: str) -> None:
    done = subprocess.run(
        [*BARNABAS, "decode", str(FAULTS), "--otlp", url],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""


def gist(spans: list[Received]) -> list[tuple[Any, ...]]:
    return sorted((*span[:10], str(sorted(span.attributes.items()))) for span in spans)


@pytest.mark.needs_go
@pytest.mark.timeout(900)  # the first time it is built
def test_the_collector_passes_on_what_it_is_sent(program: Path) -> None:
    with collecting() as direct:
        decode(direct.url)
    with collecting() as behind, forwarding(program, behind) as url:
        decode(url)
        behind.wait(lambda: len(behind.spans) == len(direct.spans))
    assert gist(behind.spans) == gist(direct.spans) != []
