"""The contents page: every oracle."""

from __future__ import annotations

from typing import Final

from fuzz.oracles.amplified import AMPLIFIED
from fuzz.oracles.client_died import CLIENT_DIED
from fuzz.oracles.client_hung import CLIENT_HUNG
from fuzz.oracles.client_memory import CLIENT_MEMORY
from fuzz.oracles.client_raised import CLIENT_RAISED
from fuzz.oracles.closing import CLOSING
from fuzz.oracles.damaged import DAMAGED
from fuzz.oracles.died import DIED
from fuzz.oracles.differing import DIFFERING
from fuzz.oracles.fatal import FATAL
from fuzz.oracles.greedy import GREEDY
from fuzz.oracles.hung import HUNG
from fuzz.oracles.logged import LOGGED
from fuzz.oracles.oracle import Oracle
from fuzz.oracles.responses import RESPONSES
from fuzz.oracles.round_trip import ROUND_TRIP
from fuzz.oracles.server_error import SERVER_ERROR
from fuzz.oracles.silent import SILENT
from fuzz.oracles.traceback import TRACEBACK
from fuzz.oracles.unanswered import UNANSWERED
from fuzz.oracles.undocumented import UNDOCUMENTED

ORACLES: Final[tuple[Oracle, ...]] = (
    DIED,
    HUNG,
    UNDOCUMENTED,
    ROUND_TRIP,
    GREEDY,
    UNANSWERED,
    FATAL,
    LOGGED,
    TRACEBACK,
    AMPLIFIED,
    SERVER_ERROR,
    CLOSING,
    RESPONSES,
    SILENT,
    DAMAGED,
    DIFFERING,
    CLIENT_DIED,
    CLIENT_RAISED,
    CLIENT_MEMORY,
    CLIENT_HUNG,
)
"""All of them; a campaign may name some."""
