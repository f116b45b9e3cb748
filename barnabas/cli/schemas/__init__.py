"""Sources of schemas: `folder.py` reads files, `registry.py` a schema registry; `source.py` chooses one.

`compiler.py` makes readers of the texts of schemas; `http_limits.py` bounds the time of a request.
"""
