"""What the exporter counts of spans that are not sent."""

from __future__ import annotations

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.cli.traces.exporter import Exporter
from tests.barnabas.cli.traces.collector import collecting
from tests.places import ROOT

SAMPLE = ROOT / "captures" / "samples" / "sasl.pcapng"


class Waiting(SpanProcessor):
    """Keeps spans until the test sends some."""

    def __init__(self, exporter: SpanExporter) -> None:
        self.exporter = exporter
        self.spans: list[ReadableSpan] = []

    def on_end(self, span: ReadableSpan) -> None:
        self.spans.append(span)


def test_spans_that_were_dropped_while_they_waited_are_told_with_the_next_batch() -> None:
    told: list[int] = []
    made: list[Waiting] = []

    def sending(exporter: SpanExporter) -> SpanProcessor:
        made.append(Waiting(exporter))
        return made[0]

    with collecting() as collector:
        exporter = Exporter(collector.url, Context(), lambda _: None, sending, told.append)
        for exchange in Conversations().exchanges(CaptureReader(SAMPLE)):
            exporter.exchange(exchange)
        (waiting,) = made
        send, spans = waiting.exporter.export, waiting.spans
        send(spans[:3])
        assert told == []
        send(spans[5:6])
        assert told == [2]
        collector.status = 400
        send(spans[6:10])
        assert told == [2, 6]
        collector.status = 200
        send(spans[10:])
        assert told == [2, 6]
    assert exporter.remarks()[0].startswith(f"6 of {len(spans)} spans dropped: ")
