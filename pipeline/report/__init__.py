"""The report: one HTML file with plots, tables and plain words, that opens without a network.

`digests.py` makes results of bounded size of analyses of any size, in Spark; `collecting.py` fetches them,
at most 30,000 rows each, and says how many there were. A section (`sections/`, listed in `registry.py`) is
a pure function of such rows and returns plots, tables and sentences, never HTML. `elements.py` and `page.py`
alone make HTML and escape everything; the page's policy lets only its own scripts run, by their hashes, and
no request leave. `marks.py` says of rows and points what the reader's filter goes by; in the browser
`filter.js` hides, `page.js` draws. Groups are drawn by `lanes.js` of `captures/summary/static/`, as on the
live page.
"""
