"""Named tuples made fast: a case needs several, and a map hundreds.

To call the class of a named tuple is to call a function in Python, and that takes twice as long as this.
"""

from __future__ import annotations

from typing import Final

tuple_of: Final = tuple.__new__
"""Makes one of its class and all of its values: defaults are not filled in."""
