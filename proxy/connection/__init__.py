"""One connection between a client and a broker, sans-IO: bytes and times in, actions out.

`state.TRANSITIONS` is the table of a connection's phases. The life of a frame, downwards, file by file:
`connection` (bytes in), `header_walk` (it passes unread) or `framing` (`ingress` says where the last frame
ends), `requests` and `responses` (pairing), `decisions` (rules), `dispatch` (effects), `send_queue` and
`response_order` (where it waits), `egress` (it leaves), `action_buffer` (bytes out). All work on one `state`;
what connections share is in `shared_state`.
"""
