"""The registry: every oracle."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.oracles.amplified import AMPLIFIED
from barnabas.fuzz.oracles.client_died import CLIENT_DIED
from barnabas.fuzz.oracles.client_hung import CLIENT_HUNG
from barnabas.fuzz.oracles.client_memory import CLIENT_MEMORY
from barnabas.fuzz.oracles.client_raised import CLIENT_RAISED
from barnabas.fuzz.oracles.clients_differ import CLIENTS_DIFFER
from barnabas.fuzz.oracles.closing import CLOSING
from barnabas.fuzz.oracles.costly import COSTLY
from barnabas.fuzz.oracles.damaged import DAMAGED
from barnabas.fuzz.oracles.died import DIED
from barnabas.fuzz.oracles.differing import DIFFERING
from barnabas.fuzz.oracles.fatal import FATAL
from barnabas.fuzz.oracles.greedy import GREEDY
from barnabas.fuzz.oracles.hung import HUNG
from barnabas.fuzz.oracles.logged import LOGGED
from barnabas.fuzz.oracles.oracle import Oracle
from barnabas.fuzz.oracles.responses import RESPONSES
from barnabas.fuzz.oracles.round_trip import ROUND_TRIP
from barnabas.fuzz.oracles.server_error import SERVER_ERROR
from barnabas.fuzz.oracles.silent import SILENT
from barnabas.fuzz.oracles.traceback import TRACEBACK
from barnabas.fuzz.oracles.unanswered import UNANSWERED
from barnabas.fuzz.oracles.undocumented import UNDOCUMENTED

ORACLES: Final[tuple[Oracle, ...]] = (
    DIED,
    HUNG,
    FATAL,
    AMPLIFIED,
    COSTLY,
    UNDOCUMENTED,
    TRACEBACK,
    LOGGED,
    GREEDY,
    DAMAGED,
    SILENT,
    UNANSWERED,
    ROUND_TRIP,
    SERVER_ERROR,
    RESPONSES,
    CLOSING,
    DIFFERING,
    CLIENT_DIED,
    CLIENT_HUNG,
    CLIENT_MEMORY,
    CLIENT_RAISED,
    CLIENTS_DIFFER,
)
"""All of them, the gravest first: findings are told in this order. A campaign may name some."""
