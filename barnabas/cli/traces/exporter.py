"""Sends spans to a collector by OpenTelemetry's SDK.

For live traffic a thread sends them (`in_background`), and the traffic never waits: at most QUEUE spans wait;
then the oldest are dropped and counted. Spans that the collector refuses or does not accept in time are
dropped, too. Reading a capture waits for the collector (`InTurn`), as long as it accepts spans.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.tracing.spans import Span, spans_of
from barnabas.captures.kafka.tracing.trace_context import TraceContext
from barnabas.cli.traces.session import session
from barnabas.plural import plural
from barnabas.version import version

QUEUE: Final = 4096
"""The most spans that wait."""

BATCH: Final = 512
"""The most spans that are sent together."""

EACH_MS: Final = 500
"""The most ms that a span waits for others."""

TIMEOUT: Final = 5.0
"""Seconds after which a batch is dropped, including retries."""

LAST: Final = 1.0
"""Seconds for sending the waiting spans at the end."""

_KINDS: Final = {"client": SpanKind.CLIENT, "server": SpanKind.SERVER}
_SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)


class Exporter:
    """Sends the spans of exchanges to one collector until `close`.

    Args:
        endpoint: The collector's URL.
        context: Has learned from each exchange before it is sent.
        say: Called once, when the collector accepts no spans.
        sending: Makes the processor, `in_background` or `InTurn`.
        dropped: Called with the number of spans that were dropped so far, whenever it grows.
    """

    def __init__(
        self,
        endpoint: str,
        context: Context,
        say: Callable[[str], None],
        sending: Callable[[SpanExporter], SpanProcessor],
        dropped: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._endpoint = endpoint
        self._context = context
        self._given = 0
        # a provider of credentials makes its own session
        brought = any(name.endswith("_CREDENTIAL_PROVIDER") for name in os.environ)
        sender = OTLPSpanExporter(endpoint, timeout=TIMEOUT, session=None if brought else session())
        self._counting = _Counting(sender, self._failed, dropped)
        self._processor = sending(self._counting)
        self._say = say
        self._said = False
        attributes = {"service.name": "barnabas", "service.version": version()}
        self._resource = Resource.create(attributes)
        self._scope = InstrumentationScope("barnabas", version())

    def exchange(self, exchange: Exchange) -> None:
        """Send the spans of an exchange soon."""
        for span in spans_of(exchange, self._context):
            self._given += 1
            numbered = self._span(span)
            numbered.number = self._given
            self._processor.on_end(numbered)

    def close(self, timeout: float = LAST) -> None:
        """Send the waiting spans, for at most `timeout` seconds."""
        ending = threading.Thread(target=self._processor.shutdown, daemon=True)
        ending.start()
        ending.join(timeout)

    def remarks(self) -> list[str]:
        """Return a note on the spans that the collector did not accept.

        Spans under way may be counted, too.
        """
        if not (dropped := self._given - self._counting.taken):
            return []
        return [
            f"{dropped} of {plural(self._given, 'span')} dropped: {self._endpoint} did not accept "
            f"them"
        ]

    def _failed(self) -> None:
        if not self._said:
            self._said = True
            self._say(f"otlp: {self._endpoint} does not accept spans: they are dropped and counted")

    def _span(self, span: Span) -> _Numbered:
        error = Status(StatusCode.ERROR, span.error) if span.error else Status()
        return _Numbered(
            span.name,
            _known(span.context),
            None if span.parent is None else _known(span.parent, remote=span.kind == "client"),
            self._resource,
            span.attributes,
            links=[Link(_known(each, remote=True)) for each in span.links],
            kind=_KINDS[span.kind],
            status=error,
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=self._scope,
        )


def in_background(exporter: SpanExporter) -> SpanProcessor:
    """Return a processor that sends spans from a thread."""
    return BatchSpanProcessor(
        exporter,
        max_queue_size=QUEUE,
        schedule_delay_millis=EACH_MS,
        max_export_batch_size=BATCH,
    )


class InTurn(SpanProcessor):
    """A processor that sends each batch before the next one is made, until the collector refuses one."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._batch: list[ReadableSpan] = []
        self._takes = True

    def on_end(self, span: ReadableSpan) -> None:
        """Add a span to the batch."""
        self._batch.append(span)
        if len(self._batch) >= BATCH:
            self._send()

    def shutdown(self) -> None:
        """Send the last batch."""
        self._send()
        self._exporter.shutdown()

    def _send(self) -> None:
        batch, self._batch = self._batch, []
        if batch and self._takes:
            self._takes = self._exporter.export(batch) is SpanExportResult.SUCCESS


class _Numbered(ReadableSpan):
    """A span with its number in the order of sending."""

    number: int


class _Counting(SpanExporter):
    """Sends batches by another exporter, and counts accepted spans.

    Batches are in the order of their spans: a span with a lower number that was not accepted was dropped,
    here or in the queue. failed: Called for each refused batch. dropped: Called when more spans were dropped.
    """

    def __init__(
        self,
        exporter: SpanExporter,
        failed: Callable[[], None],
        dropped: Callable[[int], None],
    ) -> None:
        self.taken = 0
        self._exporter = exporter
        self._failed = failed
        self._dropped = dropped
        self._told = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch."""
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.taken += len(spans)
        else:
            self._failed()
        last = spans[-1]
        assert isinstance(last, _Numbered)  # noqa: S101
        if (dropped := last.number - self.taken) > self._told:
            self._told = dropped
            self._dropped(dropped)
        return result

    def shutdown(self) -> None:
        """Shut the other exporter down."""
        self._exporter.shutdown()


def _known(context: TraceContext, *, remote: bool = False) -> SpanContext:
    return SpanContext(context.trace_id, context.span_id, remote, _SAMPLED)
