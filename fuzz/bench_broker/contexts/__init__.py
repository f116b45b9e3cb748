"""The contexts of a client's session: what the bench's broker does in it apart from the case.

`context.py` says what a context is, `registry.py` lists all of them, and each other file has one idea.
"""
