"""Proxies for tests in any language: one process, a proxy for each test, all in one loop, steered over HTTP.

`roster.py` has the tests at work, `one_test.py` is one: its proxy, and what has passed it. `api.py` has the
requests that begin and end tests, `requests.py` those about one, beside which each has all requests about a
proxy (`barnabas.proxy.control.api`). What is asserted is asserted by the code that the pytest fixtures
use: `judging.py`.

The user's test process does not import this: it has the whole proxy in it.

Bounds: at most MOST tests at a time; of each test the last KEPT exchanges with BYTES of bodies are held, and
an assertion about all of them is refused once some fell out. A test that nobody asks about for a while ends,
and is forgotten as long after its end, with its capture, if that is in no folder of the user's.
"""
