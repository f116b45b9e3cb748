"""Protocols on Kafka's framing that are not Kafka's: other packages add them, the core only asks for them.

`dialect.py` says what a dialect is, with an example; `loading.py` finds those that installed packages
register; `keys.py` gives their APIs numbers that no API of Kafka has.
"""

from barnabas.specs.dialects.dialect import Dialect, DialectApi, DialectError, Role
from barnabas.specs.dialects.loading import dialect, dialects, names, problems

__all__ = [
    "Dialect",
    "DialectApi",
    "DialectError",
    "Role",
    "dialect",
    "dialects",
    "names",
    "problems",
]
