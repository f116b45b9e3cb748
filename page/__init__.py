"""The page: exchanges in a browser, each field beside its bytes.

`store.py` holds what the page shows, within bounds. `api.py` answers the page's calls, `detail.py` makes one
exchange for it. `static/` is the page itself: plain modules without a build step, a file a view and a line
in the tuple of `app.js`. The control port's guard stands before everything: the files need no token, as they
hold nothing, and every call does.
"""
