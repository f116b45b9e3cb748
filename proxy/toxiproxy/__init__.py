"""The HTTP API of Shopify's toxiproxy 2.12, for tests that use its clients.

`api.py` has the endpoints, `guard.py` checks requests first, `errors.py` has the refusals. `store.py` has all
proxies; `api_proxy.py` is one of them, with a `network.server.Proxy`. `bodies.py` reads bodies.
`addresses.py` words errors about addresses as Go's package does, since clients show them.

`toxics.py` has the toxics of the API. All but `kafka` act on bytes of any protocol, so they are not faults,
which act on messages. `behaviour.py` defines for each toxic when which bytes leave. `stages.py` chains the
toxics of a stream; both use the caller's clock. `layer.py` is the layer between an endpoint and its socket.
Rules therefore meet messages first, and log and capture have the times before toxics. A toxic `kafka` is a
rule of the proxy's scenario.

Bounds: a body has at most 10 MiB. For each stream of a connection, a latency holds 32 MiB and every other
toxic 64 KiB, plus a chunk, before its sender is not read from.
"""
