"""The steps that groups, transactions and fetch sessions allow: tables of states, as data."""

from barnabas.specs.groups.classic import CLASSIC_MEMBER
from barnabas.specs.groups.consumer import CONSUMER_MEMBER
from barnabas.specs.groups.fetch_session import FETCH_SESSION
from barnabas.specs.groups.table import ANY, NONE, OTHER, Table
from barnabas.specs.groups.transaction import TRANSACTIONAL_PRODUCER

__all__ = [
    "ANY",
    "CLASSIC_MEMBER",
    "CONSUMER_MEMBER",
    "FETCH_SESSION",
    "NONE",
    "OTHER",
    "TRANSACTIONAL_PRODUCER",
    "Table",
]
