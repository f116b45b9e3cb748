"""Which steps the protocols of groups allow: tables of states, as data."""

from barnabas.specs.groups.classic import CLASSIC_MEMBER
from barnabas.specs.groups.consumer import CONSUMER_MEMBER
from barnabas.specs.groups.table import ANY, NONE, OTHER, Table

__all__ = ["ANY", "CLASSIC_MEMBER", "CONSUMER_MEMBER", "NONE", "OTHER", "Table"]
