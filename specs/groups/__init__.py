"""The steps that groups, transactions and fetch sessions allow: tables of states, as data."""

from barnabas.specs.groups.classic import CLASSIC_MEMBER
from barnabas.specs.groups.consumer import CONSUMER_MEMBER
from barnabas.specs.groups.fetch_session import FETCH_SESSION
from barnabas.specs.groups.pairs import TWO_MEMBERS, TWO_PRODUCERS
from barnabas.specs.groups.partition_log import PARTITION_LOG
from barnabas.specs.groups.table import ANY, NONE, OTHER, Table
from barnabas.specs.groups.transaction import TRANSACTIONAL_PRODUCER
from barnabas.specs.groups.transaction_v2 import TRANSACTION_V2

__all__ = [
    "ANY",
    "CLASSIC_MEMBER",
    "CONSUMER_MEMBER",
    "FETCH_SESSION",
    "NONE",
    "OTHER",
    "PARTITION_LOG",
    "TRANSACTIONAL_PRODUCER",
    "TRANSACTION_V2",
    "TWO_MEMBERS",
    "TWO_PRODUCERS",
    "Table",
]
