"""The page: live traffic or a capture in a browser.

`api.py` combines the requests and serves the files, `openapi.py` describes the requests, and `answers/` has
the types of responses. `exchanges.py` serves the list and `retry_chains.py` its retries, `detail.py` one
exchange, `declared.py` the types of its fields and `fields.py` the fields that a filter may name.
`views.py` serves what is computed over exchanges, `sequence.py` messages over time, and `recorded.py` the
rules of a capture; the rules of a proxy are in `barnabas.proxy.control`. `take_away.py` returns exchanges
as a file, in the formats of `forms.py`; `as_client_test.py` makes tests in Go, Java and Node.

`static/` is the page itself: plain modules without a build step, a file for each view. `static/vendor/` has
libraries by others, listed in `packages.json`. The files contain no data and need no token; every request
does.
"""
