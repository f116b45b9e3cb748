"""Control of a running proxy: over HTTP on loopback, and by the scenario file that changes.

It is a second, small server in the proxy's own loop, so each request sees and changes the proxy between two
events; what takes its time (YAML, bodies for a reader) is done in a thread or in turns. starlette, uvicorn
and prometheus-client (the extra `control`) are loaded only when control is asked for. `guard.py` stands
before everything: token, Host, no Origin.

`metrics.py` makes metrics when they are asked for, of counts that exist anyway. With the log off exchanges
are observed only while somebody follows. Rules are replaced as a whole: those that are the same keep their
objects and counters, and what the others held back is let go.
"""
