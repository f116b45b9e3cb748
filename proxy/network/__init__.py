"""Sockets and the event loop; all decisions are the connection's.

`server` is the proxy: `acceptor` (listeners), `upstream` (brokers), `relay` (one connection's bytes) with an
`endpoint` for each socket, `read_buffers`, `timer`; `reaper` and `draining` end connections. `tls` and
`certificate_authority` are TLS, `principal` is whom a client's certificate names, `passthrough` is TLS
unread, `topic_name_lookup` and `topic_name_client` ask brokers. `options` is what a proxy is made from,
`capture_watch` says what becomes of its capture; `sockets`, `tcp_info` and `clock` are the system's.
"""
