"""`--otlp`: which URLs it takes, and what it does not go with."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.traces.options import endpoint_of
from barnabas.trouble import COULD_NOT_RUN, Trouble
from tests.barnabas.cli.command import run
from tests.barnabas.cli.traces.collector import collecting
from tests.places import SAMPLES


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/v1/traces/", "http://localhost:4318/v1/traces"),
        ("https://example.org/a", "https://example.org/a/v1/traces"),
        ("http://[::1]:4318", "http://[::1]:4318/v1/traces"),
    ],
)
def test_spans_go_where_the_specification_says(url: str, endpoint: str) -> None:
    assert endpoint_of(url) == endpoint


@pytest.mark.parametrize(
    "url",
    [
        *("", "localhost:4318", "grpc://localhost:4317", "http://", "http://:4318", "http://[::1"),
        *("http://a:0", "http://a:x", "http://a:99999", "http://a/?b", "http://a/#b"),
        "http://me:secret@a:4318",  # it would be printed: OTEL_EXPORTER_OTLP_HEADERS has tokens
    ],
)
def test_what_is_no_url_of_a_collector_is_refused(url: str) -> None:
    with pytest.raises(Trouble, match="expected http://HOST:PORT of a collector"):
        endpoint_of(url)


def decode(url: str, *arguments: str, path: Path = SAMPLES / "faults.pcapng") -> tuple[int, str]:
    done = run("decode", path, "--otlp", url, *arguments)
    return done.returncode, done.stderr


def test_a_capture_is_sent_whole_or_what_passes() -> None:
    with collecting() as collector:
        code, said = decode(collector.url)
        assert (code, said) == (0, "")
        assert len({span.span_id for span in collector.spans}) == len(collector.spans) == 103
        collector.spans.clear()
        assert decode(collector.url, "--filter", "error == 'NOT_ENOUGH_REPLICAS'")[0] == 0
        (span,) = collector.spans
        assert span.attributes["kafka.rules"] == ["the leader is busy"]


def test_a_capture_whose_spans_are_not_taken_could_not_be_sent() -> None:
    with collecting(500) as collector:
        code, said = decode(collector.url)
    assert code == COULD_NOT_RUN
    assert said.splitlines() == [
        f"otlp: {collector.url}/v1/traces does not accept spans: they are dropped and counted",
        f"103 of 103 spans dropped: {collector.url}/v1/traces did not accept them",
    ]
