"""Turn the bytes of connections into exchanges, and describe exchanges.

- `framing/` detects the protocol and cuts frames out of a stream, also after a gap.
- `pairing/` pairs the requests and responses of one connection. `conversations.py` does so for all
  connections of a capture, `dialect_conversations.py` for connections of a dialect. `frames.py` lists frames
  without pairing them.
- `exchange.py` defines a request with its response, `columns.py` its columns, `notes.py` its notes.
- `context/` learns what messages leave out: names of topics, partitions of sessions, members, transactions.
- `errors.py`, `topics.py`, `client_software.py`, `sasl.py`, `embedded.py` and `unpacked_records.py` each
  extract one kind of fact from an exchange. `filters.py` selects exchanges by conditions of `expression.py`.
- `tracing/` makes spans of an exchange, in the traces that its records carry.
- `log_line.py` describes an exchange in one line, with `phrases/` for each API and the helpers of
  `wording.py`.
"""
