"""The sockets and the event loop; the connection makes all decisions.

- `server` is the proxy. `listeners` and `acceptor` accept clients, `upstream` reaches brokers, and `relay`
moves one connection's bytes between two `endpoint`s, with `read_buffers` and a `timer`.
- `reaper` and `drain` end connections.
- `tls` and `certificate_authority` are TLS; `principal` reads the subject of a client's certificate;
`passthrough` forwards TLS unread.
- `topic_name_lookup` asks brokers for names of topics.
- `options` and `surroundings` are what a proxy is made from; `report` is its state as a value.
- `announcement`, `capture_watch` and `rate_limited_lines` report to the person.
- `own_addresses` and `this_machine` recognize the proxy's own addresses; `sockets`, `tcp_info` and `clock`
wrap the system.
"""
