"""The page: live traffic or a capture in a browser.

`api.py` puts the requests together, `openapi.py` says what they are, `answers/` has the types of answers.
`exchanges.py` has the list, `detail.py` one of it, `declared.py` its types and `fields.py` what a filter
completes; `views.py` has all that is computed over exchanges, `sequence.py` messages over time, and
`recorded.py` the rules of a capture; those of a proxy, and what helps to write some, are in
`barnabas.proxy.control`. `take_away.py` gives exchanges as a file, in the forms of `forms.py`. `static/` is
the page: plain modules without a build step, a file a view; `static/vendor/` is what others wrote, as
`packages.json` there says. The control port's guard stands before everything: the files need no token, as
they hold nothing, and every call does.
"""
