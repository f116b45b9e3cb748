"""Control of a running proxy: over HTTP on loopback, and by the scenario file that changes.

It is a second, small server in the loop of the process that listens; what takes its time (YAML, bodies for a
reader) is done in a thread or in turns. It steers a `Target`: this process's proxy (`local.py`), between two
events, or the supervisor of several, who asks its workers. starlette, uvicorn and prometheus-client (the
extra `control`) are loaded only when control is asked for. `guard.py` stands before everything: token, Host,
no Origin.

`api.py` has the requests, `rules.py` those about rules that hold, `drafts.py` those that help to write some.
`omissions.py` has what an answer does not hold. `views.py` and `metrics.py` make JSON and metrics of a report
when they are asked for, of counts that exist anyway. With the log off exchanges are observed only while
somebody follows. Rules are replaced as a whole: those that are the same keep their objects and counters, and
what the others held back is let go.
"""
