"""Protocols with Kafka's framing that are not Kafka's. Packages add them; the core only looks them up.

`dialect.py` defines a dialect, with an example. `registry.py` loads the dialects of installed packages.
`keys.py` gives their APIs numbers that no API of Kafka has.
"""

from barnabas.specs.dialects.dialect import Dialect, DialectApi, DialectError, Role
from barnabas.specs.dialects.registry import dialect, dialects, names, problems

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
