"""What happens between clients and brokers: a man in the middle that decodes, logs and alters traffic.

The life of a frame, room by room:

1. `network/` accepts a client, dials the broker, and reads chunks into one buffer that all connections
   share. If the connection answers `PASS` the chunk is written on as it is. Only when the receiver does not
   take all of it does the buffer stay in use: then the sender is paused, so slow readers cost no memory.
2. `connection/header_walk.py` is why the usual answer is `PASS`: it walks over the frames of a chunk by
   arithmetic on their sizes. `rules/plan.py` decides which messages may pass unread, once per API and
   version; a request of which a rule wants the first fields passes if it begins as the last one that passed.
3. `connection/` is sans-IO: bytes and times in, actions out. Frames that somebody wants whole are
   collected; requests wait for their responses, first in, first out, and the correlation id is the check.
4. `matching/` says which messages a rule is about, `rules/` what the rules that a message meets decide, and
   what their effects come to together. `faults/` has one pure function a fault, `effects.py` what they may
   ask for. `edits/` has what changes without any rule: the addresses of brokers (put into the bytes by
   `specs/broker_addresses.py`), and versions in ApiVersions.
5. `connection/dispatch.py` carries effects out: a whole frame leaves at once, late, in another order, in
   pieces, or never. `response_order.py` beside it keeps responses in the order of the client's requests.

`workers/` has several such processes, with a supervisor that accepts and is steered; so traffic is
beside the control port, too. `toxiproxy/` has proxies that come and go as toxiproxy's clients want, with
toxics between endpoints and sockets. `scenario/` reads scenario files, `topic_names/` learns names of topics
that messages give by id, `control/` is the HTTP port of a running proxy, `rehearsal.py` runs a scenario
over a capture on the capture's clock, `dry_run.py` puts exchanges that have passed to its rules once more.

Decisions are reproducible: whether a rule fires is a hash of seed, rule, client id, broker, the ordinal of
the connection among that client's to that broker, and the ordinal of the match. No shared generator is
drawn from, so other connections can't change it. `scenario/lint/dependence.py` lists what does depend on
them.

Fails closed: either all addresses of a response are replaced, whatever bytes their hosts are, or it does
not pass and its connection is closed; so it is where nobody waits for the response, so that its API can't
be known. An ApiVersions request newer than any known is answered as a broker would: error 35 in the layout
of v0.

Of a response of over 128 KiB that may end with node endpoints (`specs/node_endpoints.py`) all in front of
them passes as it comes, unless the log or a rule wants it whole. Its size has left then, so they are
replaced in as many bytes; if the proxy's addresses are longer all are left out, which a line says. Where it
can't be told where they begin, the connection is closed before they leave.

Bounds: a frame of over 100 MiB closes its connection (`--frame-limit`). Frames that wait are counted,
and above 16 MiB reading pauses; at most 10,000 requests wait for responses, with 16 MiB of bodies that
rules or the log want then. Decoding a body takes at most 64 MiB: above it a rule is undecided, a fault
can't be done, a log line says so, each counted. What is remembered of names that peers choose is
bounded in entries and bytes. Readers of the live stream (log, control, the capture of workers) are
behind by a ring of 32 MiB each at most; control keeps 1,000 exchanges and 16 MiB, and as much for each
of 8 followers; 1,000 brokers are listened for. The capture is written by a thread, in whichever process; at
most 64 MiB wait for it, of more some is lost, counted and shown.

Peers that fail: the proxy has no time limits of its own for a request. What is passed on is what a direct
connection would show: a reset stays a reset, a broker that stops taking bytes stops its client. When one
side ends its stream and nobody waits for an answer, both are closed; `network/reaper.py` closes a
connection whose client has gone and whose broker has not moved a byte for 30 s.
"""
