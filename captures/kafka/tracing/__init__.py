"""An exchange as spans of a distributed trace, without OpenTelemetry: `trace_context.py` finds the contexts
that records carry, `spans.py` makes the spans."""
