"""The bench as a broker in a valid state, which answers one request of a client with malformed bytes.

`broker.py` is the core: bytes in, bytes out, without sockets or a clock. `responses/` has the responses of
each API, `planted.py` the response that replaces one of them, and `session.py` the sockets. `contexts/` has
what else happens in a session: transactions, members, moves, and further wrong responses (`distortion.py`).
"""
