"""Rules at work.

`candidates` are the rules that a connection's messages may meet, `rule` is one with its counts, `rules`
decides which of them fire, `merged_effects` takes the effects of all together, `by_hand` is what a person
decides about one message, `outcome` is what rules have done so far. `plan` decides for each API, version and
direction which messages pass unread, `prefix_cache` decides it for single requests by their first fields.
"""
