"""One connection between a client and a broker, sans-IO: bytes and times in, actions out.

The life of a frame, file by file: `connection` (bytes in), `header_walk` (it passes unread) or `framing`
(`ingress` says where the last frame ends), `requests` and `responses` (pairing), `decisions` (rules),
`dispatch` (effects), `response_order` (the client's order), `send_queue`, `egress` (it leaves),
`action_buffer` (bytes out). All work on one `state`; what connections share is in `shared_state`.
"""
