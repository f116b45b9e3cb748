"""A collector that keeps the spans it is sent: an HTTP server that reads OTLP by its own schema."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


class Received(NamedTuple):
    """A span as it came; ids in hex."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    links: list[tuple[str, str]]
    kind: int
    start: int
    end: int
    failed: bool
    message: str
    attributes: dict[str, Any]
    resource: dict[str, Any]


class Collector:
    """Where it is, and what it got. status: what it answers."""

    def __init__(self, status: int) -> None:
        self.url = ""
        self.status = status
        self.paths: set[str] = set()
        self.spans: list[Received] = []
        self.asked = threading.Event()
        """Set when somebody has sent spans."""
        self.came = threading.Condition()
        self.over = threading.Event()
        """Until then a collector that hangs says nothing."""

    def wait(self, enough: Callable[[], bool], timeout: float = 30.0) -> None:
        """Until that holds of what has come."""
        with self.came:
            assert self.came.wait_for(enough, timeout), self.spans

    def named(self, name: str) -> list[Received]:
        return [span for span in self.spans if span.name == name]


@contextmanager
def collecting(status: int = 200, *, hangs: bool = False) -> Iterator[Collector]:
    """A collector on a free port of loopback."""
    collector = Collector(status)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers["Content-Encoding"] == "gzip":
                data = gzip.decompress(data)
            collector.paths.add(self.path)
            collector.asked.set()
            if hangs:
                collector.over.wait()
                self.close_connection = True
                return
            if collector.status == 200:
                assert self.headers["Content-Type"] == "application/x-protobuf"
                with collector.came:
                    collector.spans.extend(_spans(ExportTraceServiceRequest.FromString(data)))
                    collector.came.notify_all()
            body = ExportTraceServiceResponse().SerializeToString()
            self.send_response(collector.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield collector
    finally:
        collector.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Received]:
    for of_resource in request.resource_spans:
        resource = _values(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield Received(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                    span.kind,
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    span.status.code == 2,
                    span.status.message,
                    _values(span.attributes),
                    resource,
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)
