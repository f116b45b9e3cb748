"""Proxies for tests in any language: one process serves a proxy for each test, steered over HTTP.

`roster.py` has the tests, `proxied_test.py` is a test with its proxy and exchanges. `api.py` serves the
requests that begin and end tests, `requests.py` those about a test; each test has all requests about a proxy,
too (`barnabas.proxy.control.api`). `assertions.py` evaluates assertions with the code of the pytest fixtures.

Test processes do not import this package, since it contains the whole proxy.

Limits: at most MOST tests at a time. Of each test the last KEPT exchanges with BYTES of bodies are held; an
assertion about all exchanges is refused once some were dropped. A test without requests ends after a timeout.
After another timeout it is removed, with its capture unless that is in a folder of the user.
"""
