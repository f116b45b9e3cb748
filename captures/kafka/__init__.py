"""From the bytes of connections to exchanges, and what is said of an exchange.

- `framing/` detects the protocol and cuts frames out of a stream, also behind a gap.
- `pairing/` pairs the requests and responses of one connection; `conversations.py` does it for a capture,
  `dialect_conversations.py` for one of a dialect. `frames.py` lists frames without pairing them.
- `exchange.py` is a request with its response, `columns.py` what its columns are, `notes.py` what is noted.
- `context/` learns what messages leave out: names of topics, partitions of sessions, members, transactions.
- `errors.py`, `topics.py`, `client_software.py`, `sasl.py`, `embedded.py`, `unpacked_records.py` read one
  thing out of an exchange. `filters.py` selects exchanges, by conditions of `expression.py`.
- `tracing/` makes spans of an exchange, in the traces that its records carry.
- `log_line.py` says what matters of an exchange in a line, with the words of `phrases/` and `wording.py`.
"""
