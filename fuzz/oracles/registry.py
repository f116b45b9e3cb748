"""The registry of all oracles."""

from __future__ import annotations

from functools import partial
from typing import Final

from barnabas.fuzz.cases.case import Role
from barnabas.fuzz.oracles import (
    amplified,
    clients,
    closing,
    costly,
    decoders,
    died,
    logs,
    others,
    responses,
    silent,
)
from barnabas.fuzz.oracles.differences import differs
from barnabas.fuzz.oracles.oracle import Oracle

_BROKER: Final[frozenset[Role]] = frozenset(("broker",))
_CLIENT: Final[frozenset[Role]] = frozenset(("client",))
_DECODER: Final[frozenset[Role]] = frozenset(("decoder",))

# fmt: off
ORACLES: Final[tuple[Oracle, ...]] = (
    Oracle("died", "the process died, or was restarted",
           _BROKER, died.judge, "the process stays up, whatever it is sent"),
    Oracle("hung", "no response to a well-formed probe within a limit",
           _BROKER, others.hung, "others are still answered"),
    Oracle("fatal", "out of memory, or another fatal error in the log",
           _BROKER, logs.fatal, "no Error: what does not fit is refused"),
    Oracle("amplified", "a small request that makes the broker allocate much memory (RSS, a JVM's "
        "heap)",
           _BROKER, amplified.judge, "memory in proportion to the request"),
    Oracle("costly", "a small request that keeps a thread busy for seconds",
           _BROKER, costly.judge, "time in proportion to the request"),
    Oracle("undocumented", "a decoder raised an exception that it does not document",
           _DECODER, decoders.undocumented, "the message, or an exception that is documented"),
    Oracle("traceback", "a process in Python printed a traceback",
           _BROKER, logs.traceback, "no exception that nobody catches"),
    Oracle("logged", "an exception of an unexpected class in the log",
           _BROKER, logs.logged, "an error of the protocol, or a refusal that is meant"),
    Oracle("greedy", "a decoder takes more time or memory than its input justifies",
           _DECODER, decoders.greedy, "time and memory in proportion to the input"),
    Oracle("damaged", "other clients' probes fail after the case",
           _BROKER, others.damaged, "others are served as before"),
    Oracle("silent", "accepts what the specification forbids, or serves it back differently",
           _BROKER, silent.judge, "what was sent is served again, or refused"),
    Oracle("unanswered", "a request neither answered nor refused, while a probe is answered",
           _BROKER, responses.unanswered, "an answer, or the end of the connection"),
    Oracle("round_trip", "decoding, encoding and decoding again gives another message",
           _DECODER, decoders.round_trip, "the same message again"),
    Oracle("server_error", "a response with error -1, UNKNOWN_SERVER_ERROR",
           _BROKER, responses.server_error, "the error code that says what is wrong"),
    Oracle("responses", "a response that can't be decoded, or does not match its request",
           _BROKER, responses.wrong, "a response that can be read, to this request"),
    Oracle("closing", "closed the connection where the protocol has an error code, or the reverse",
           _BROKER, closing.judge,
           "an error code where the request can be read, the end of the connection where it can't"),
    Oracle("differing", "two versions or implementations disagree",
           _BROKER | _DECODER, partial(differs, "differing"), "the same as the other does"),
    Oracle("client-died", "the client's process died",
           _CLIENT, clients.died, "an error that the application can handle"),
    Oracle("client-hung", "a call of the client does not return, and no new session starts",
           _CLIENT, clients.hung, "the call returns, with an error or a result"),
    Oracle("client-memory", "the client took 512 MiB or more of memory or address space for a case",
           _CLIENT, clients.memory, "memory in proportion to the response"),
    Oracle("client-wrong-data", "a consumer delivers a record that was aborted, or skips a committed one",
           _CLIENT, clients.wrong_data, "each committed record once, and no other"),
    Oracle("client-raised", "the client raised an exception of an undocumented class",
           _CLIENT, clients.raised, "an exception of a documented class"),
    Oracle("clients-differ", "two clients interpret one response differently",
           _CLIENT, partial(differs, "clients-differ"), "the same as the other client makes of it"),
)
# fmt: on
"""All oracles, the gravest first: findings are reported in this order. A campaign may name some."""

ORACLES_BY_NAME: Final = {oracle.name: oracle for oracle in ORACLES}
