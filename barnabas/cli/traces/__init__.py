"""Spans of exchanges, sent to a collector with OTLP over HTTP, by OpenTelemetry's SDK (the extra otlp)."""
