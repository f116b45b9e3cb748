"""Control of a running proxy: over HTTP on loopback, and by the scenario file that changes.

The traffic path imports `stepping` and `tcp_info` only; starlette, uvicorn and prometheus-client
(the extra `control`) are loaded when control is asked for.
"""
