"""The bench as a broker in a valid state, which answers one request with malformed bytes.

`broker.py` is the core: bytes in, bytes out, without sockets and without a clock. `answers/` has what it
says to each API; `planted.py` the answer that is put in the place of one of them; `session.py` the sockets.
"""
