"""What oracles of clients find: an observation, and the verdict in words and by what tells it from others."""

from __future__ import annotations

from barnabas.fuzz.cases.observation import DIFFERS, SPINS, Death, Observation
from barnabas.fuzz.observations.client_outcome import CLAIMED, LIMIT, WRONG_DATA
from tests.fuzz.oracles.judging import ANSWERED, ASSERTION, LATE, SIGNAL, of_client, raising

CONFIRMED = {"confirmed": True}
PANIC = """panic: runtime error: slice bounds out of range [:-5] [recovered]
\tpanic: again

goroutine 23 [running]:
panic({0x7f5a20?, 0xc000026300?})
\t/usr/local/go/src/runtime/panic.go:860 +0x13a
encoding/binary.bigEndian.Uint32(...)
\t/usr/local/go/src/encoding/binary/binary.go:79
github.com/own/client.(*decoder).read(0xc0001, {0x1, 0x2})
\t/root/go/pkg/mod/github.com/own/client/decoder.go:123 +0x1d
github.com/own/client.decode[...](0x7)
\t/root/go/pkg/mod/github.com/own/client/decode.go:9 +0x2
main.consume()
\t/x/sessions.go:9 +0x2
created by github.com/own/client.start in goroutine 1
\t/x/y.go:1 +0x2

goroutine 1 [select]:
github.com/own/client.other()
"""
PANIC_AT = (
    "panic: runtime error: slice bounds out of range [:N]",
    "encoding/binary.bigEndian.Uint32",
    "github.com/own/client.(*decoder).read",
    "github.com/own/client.decode[...]",
)
FAULT = """Fatal Python error: Segmentation fault

Current thread 0x00007f665be05b80 (most recent call first):
  File "/v/lib/python3.11/site-packages/own/admin.py", line 331 in list_groups
  File "/x/programs/with_own.py", line 155 in admin
"""

FINDINGS: dict[str, tuple[str, Observation, tuple[str, ...]]] = {
    "two clients": (
        "clients-differ", of_client(facts={DIFFERS: ["a accepts what b refuses", "Fetch: so", "count"]}),
        ("a accepts what b refuses", "Fetch: so", "count")),
    "a panic with other numbers, of a command": (
        "client-died",
        of_client(facts={"each": True}, death=Death(2, PANIC.replace("-5]", "7]").replace("go:123", "go:9"))),
        ("the process ended: exit code 2, panic: runtime error: slice bounds out of range [:N]", *PANIC_AT)),
    "a client's signal": (
        "client-died", of_client(death=Death(-11, "")),
        (f"{SIGNAL} SIGSEGV", "signal SIGSEGV", "Fetch", "_tags.count")),
    "what the allocator says": (
        "client-died", of_client(death=Death(-11, "free(): invalid size\n")),
        (f"{SIGNAL} SIGSEGV, heap corruption", "heap corruption", "Fetch", "_tags.count")),
    "a client's exit code": (
        "client-died", of_client(death=Death(3, "")), ("the process ended: exit code 3", "exit code 3")),
    "a fault of Python": (
        "client-died", of_client(death=Death(-11, FAULT)),
        (f"{SIGNAL} SIGSEGV, Fatal Python error: Segmentation fault",
         "Fatal Python error: Segmentation fault", "own/admin.py:list_groups")),
    "an assertion in a client": (
        "client-died", of_client(death=Death(-6, ASSERTION)),
        (f"{SIGNAL} SIGABRT, assertion: count > 0", "assertion: count > 0", "push_all")),
    "an exception that left a client": (
        "client-raised", raising("kafka-python", "struct.error", "Exception"),
        ("struct.error: 17 of 3: undocumented, it left the client", "struct.error", "client/parser.py:read",
         "client/conn.py:recv", "client/a.py:poll")),
    "an exception that ended a client's thread": (
        "client-raised", raising("kafka-python", "struct.error", "Exception", where="thread"),
        ("struct.error: 17 of 3: undocumented, it ended a thread of the client", "struct.error",
         "client/parser.py:read", "client/conn.py:recv", "client/a.py:poll")),
    "memory of a client": (
        "client-memory", of_client(rss=(10, 10 + LIMIT), facts=CONFIRMED),
        ("512 MiB more memory for 5 bytes", "counts _tags.count")),
    "address space of a client": (
        "client-memory", of_client(rss=(10, 20), facts={**CONFIRMED, CLAIMED: 2 * LIMIT}),
        ("1024 MiB more address space for 5 bytes", "counts _tags.count")),
    "a consumer that delivers an aborted record": (
        "client-wrong-data",
        of_client(facts={**CONFIRMED, WRONG_DATA: ["delivers one", "aborted", 1, 4]}),
        ("the consumer delivers one, aborted: offset 4 of partition 1", "delivers one", "aborted")),
    "a client that waits": (
        "client-hung", of_client(probe=LATE, facts=CONFIRMED),
        ("the client hangs and waits: a session had not ended after 4 s", "Fetch", "waits",
         "_tags.count")),
    "a client that computes": (
        "client-hung", of_client(probe=LATE, facts={**CONFIRMED, SPINS: True}),
        ("the client hangs and computes: a session had not ended after 4 s", "Fetch", "computes",
         "_tags.count")),
}  # fmt: skip
"""What it is -> (the oracle, the observation, the one verdict: words, and what tells it from others)."""

NOTHING: dict[str, tuple[str, Observation]] = {
    "a command that fails": ("client-died", of_client(death=Death(1, "no broker"), facts={"each": True})),
    "an exception of nobody's": ("client-raised", of_client(raised="ValueError: x")),
    "classes without an exception": ("client-raised", of_client(facts={"bases": ["ValueError"]})),
    "a client's memory below the limit": (
        "client-memory", of_client(rss=(LIMIT, 2 * LIMIT - 1), facts=CONFIRMED)),
    "a client's memory once": ("client-memory", of_client(rss=(10, 10 + LIMIT), facts={"confirmed": False})),
    "address space of a client once": (
        "client-memory", of_client(facts={"confirmed": False, CLAIMED: LIMIT})),
    "wrong data once": (
        "client-wrong-data", of_client(facts={"confirmed": False, WRONG_DATA: ["skips", "aborted", 1, 4]})),
    "a client's hang once": ("client-hung", of_client(probe=LATE, facts={"confirmed": False})),
    "a client that answers": ("client-hung", of_client(probe=ANSWERED, facts=CONFIRMED)),
    "a client that was not probed": ("client-hung", of_client(facts=CONFIRMED)),
    "a client that is told to wait": (
        "client-hung", of_client("throttle_time_ms", probe=LATE, facts=CONFIRMED)),
}  # fmt: skip
"""What it is -> (the oracle, an observation of which it says nothing)."""
