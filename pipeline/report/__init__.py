"""The report: one HTML file with plots, tables and sentences, which works offline.

`digests.py` computes results of bounded size from the tables, in Spark, and fetches at most 30,000 rows of
each with the total number of rows. A section (`sections/`, listed in `registry.py`) is a pure function of
such rows that returns plots, tables and statements, never HTML. Only `elements.py` and `page.py` make HTML,
and they escape everything. The page's policy allows only its own scripts, by hash, and no request. `marks.py`
gives rows and points the values that the reader's filter uses; in the browser `filter.js` hides, `page.js`
draws. `lanes.js` of `barnabas/look/static/` draws groups, as on the live page.
"""
