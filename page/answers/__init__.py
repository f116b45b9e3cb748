"""The types of what the page and servers of tests are answered, a file a kind of requests.

Times are ns since the epoch as text (they exceed what a number of JavaScript holds) unless they are said to
be ISO 8601. Durations are in ms, sizes in bytes.

`typing_extensions` has pydantic's own TypedDict: it takes no other one before Python 3.12.
"""
