"""The types of responses of the page and of test servers, a module for each kind of request.

Times are ns since the epoch as text, since they exceed the numbers of JavaScript, unless they are documented
as ISO 8601. Durations are in ms, sizes in bytes.

The types use `typing_extensions`: pydantic takes no other TypedDict before Python 3.12.
"""
