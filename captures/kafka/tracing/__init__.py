"""Make spans of a distributed trace from exchanges, without OpenTelemetry.

`trace_context.py` finds the trace contexts that records carry, `spans.py` makes the spans.
"""
