"""Fast construction of named tuples: a case needs several, and a field map hundreds.

Calling a named tuple's class calls a Python function, which takes twice as long as this.
"""

from __future__ import annotations

from typing import Final

tuple_of: Final = tuple.__new__
"""Make a tuple of a class from all its values; defaults are not filled in."""
