"""The proxy: a man in the middle between Kafka clients and brokers that decodes, logs and alters traffic.

Read the packages in the order in which a frame meets them:

1. `network/` owns the sockets. It accepts a client, dials the broker and reads chunks into one buffer that
all connections share. If the connection answers `PASS`, the relay forwards the chunk unchanged. If the
receiver cannot take the whole chunk, the buffer stays in use and the sender is paused. A slow reader
therefore costs no memory.
2. `connection/` is sans-IO: bytes and times in, actions out. `header_walk` makes `PASS` the common answer: it
steps over the frames of a chunk by their sizes. All other frames are collected whole. Requests wait for their
responses in order; the correlation id confirms each pair.
3. `matching/` decides which messages a rule is about. `rules/` decides which rules fire and merges their
effects. `rules/plan` decides once per API and version which messages pass unread; `rules/prefix_cache`
decides it for single requests by their first fields.
4. `faults/` has one pure function per fault. A fault returns effects (`effects.py`) and touches no socket,
clock or queue. `edits/` changes responses without any rule: brokers' addresses, and the versions in
ApiVersions.
5. `connection/dispatch` carries effects out: a frame leaves now, later, in another order, in pieces, or
never. `connection/response_order` restores the order of the client's requests.

Around them:

- `workers/` runs several such processes under a supervisor that accepts clients and answers the control port.
- `control/` is the HTTP port of a running proxy; `toxiproxy/` offers the HTTP API of Shopify's toxiproxy.
- `scenario/` reads scenario files; `topic_names/` learns the names of topics that messages name by id.
- `rehearsal.py` runs a scenario over a capture; `dry_run.py` runs its rules over single exchanges;
`excerpt.py` turns what rules did into a scenario.

Reproducible decisions: whether a rule fires is a hash of the seed, the rule, the client id, the broker, the
ordinal of the connection among that client's to that broker, and the ordinal of the match. No generator is
shared, so other connections cannot change a decision. `scenario/lint/dependence.py` lists the rules that do
depend on other connections.

Fails closed: the proxy replaces all addresses in a response, or it closes the connection. It also closes the
connection if a response answers no request in flight, since its API is unknown. An ApiVersions request newer
than any known version is answered as a broker answers it: error 35 in the layout of v0.

Large responses: if a response of over 128 KiB may end with node endpoints (`specs/node_endpoints.py`), the
bytes before the endpoints pass unchanged, unless the log or a rule needs the whole response. The frame's size
has left by then, so the endpoints are replaced within the same number of bytes. If the proxy's addresses are
longer, all endpoints are left out and a line reports it. If the start of the endpoints cannot be found, the
connection is closed before any of them leaves.

Bounds:

- A frame of over 100 MiB closes its connection (`--frame-limit`).
- Reading pauses while more than 16 MiB of frames wait, while 10,000 requests have no response, or while the
retained bodies of requests exceed 16 MiB.
- Decoding a body takes at most 64 MiB. Above that a rule is undecided, a fault is not applied, and the log
line reports it; each case is counted.
- Names that peers choose are remembered up to a number of entries and bytes.
- Readers of the live stream (the log, the control port, the capture of workers) lag by a ring of at most 32
MiB each.
- The control port retains 1,000 exchanges and 16 MiB, and as much for each of 8 followers.
- The proxy listens for at most 1,000 brokers.
- A thread writes the capture. At most 64 MiB wait for it; what exceeds that is dropped, counted and reported.

Failing peers: the proxy has no timeout of its own for a request. It passes on what a direct connection would
show: a reset stays a reset, and a broker that stops reading stops its client. When one side ends its stream
and no request waits for a response, the proxy closes both sides. `network/reaper.py` closes a connection
whose client has gone and whose broker has moved no byte for 30 s.
"""
