"""Controls a running proxy: over HTTP on loopback, and by the scenario file that changes.

The control port is a second, small server in the loop of the process that listens. Slow work (YAML, bodies
for a reader) is done in a thread or in turns. It steers a `Target`: this process's proxy (`local_target.py`),
between two events, or the supervisor of several, which calls its workers. starlette, uvicorn and prometheus-
client (the extra `control`) are loaded only when control is requested. `guard.py` checks every request first:
the token, Host, no Origin.

`api.py` has the endpoints, `rules.py` those about the rules in force, `breakpoints.py` those about waiting
messages, `drafts.py` those that help to write rules. `omissions.py` defines what a response leaves out.
`views.py` and `metrics.py` make JSON and metrics of a report on request, from counts that exist anyway. With
the log off, exchanges are observed only while somebody follows them. Rules are replaced as a whole: unchanged
rules keep their objects and counters, and messages that the others held are released.
"""
