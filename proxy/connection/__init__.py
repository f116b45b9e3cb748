"""One connection between a client and a broker, sans-IO: bytes and times in, actions out.

The life of a frame, file by file: `connection` (bytes in), `header_walk` (it passes unread) or `framing`,
`requests` and `responses` (pairing), `decisions` (rules), `dispatch` (effects), `send_queue`, `egress`
(it leaves), `action_buffer` (bytes out).
"""
