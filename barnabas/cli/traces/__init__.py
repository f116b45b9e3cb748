"""Spans of exchanges, for a collector: `exporter.py` sends them, `options.py` is the option `--otlp`,
`environment.py` what OpenTelemetry's variables add to it."""
