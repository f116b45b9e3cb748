"""Which frames pass unread, as nobody wants more than their header.

`plan` decides for each API, version and direction; `prefix_cache` for single requests, by their first fields.
`proxy/connection/header_walk.py` is the loop over such frames.
"""
