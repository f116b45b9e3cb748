"""The HTTP API of Shopify's toxiproxy 2.12, so that tests that use its clients take barnabas in its place.

`api.py` has the requests, `guard.py` stands before them, `errors.py` has what they refuse. `store.py` has all
proxies, `proxied.py` one of them: a `network.server.Proxy`. `bodies.py` reads
bodies, and `addresses.py` says what Go's package would of addresses: clients show it.

`toxics.py` has toxics as the API has them. All but `kafka` are about bytes, whatever is spoken, so they are
no faults, which are about messages: `behaviour.py` says for each when which bytes leave, `stages.py` puts
those of a stream behind each other, both on the clock of whoever asks, and `layer.py` lies between an
endpoint and its socket. So rules meet messages first, and log and capture have the times before toxics. A
toxic `kafka` is a rule of the proxy's scenario.

Bounds: a body has 10 MiB at most. Of each stream of a connection a latency holds 32 MiB and every other toxic
64 KiB, and a chunk, before its sender is not read from.
"""
