"""Decides which rules fire on a message, and merges their effects.

- `rule` is one rule with its counts; `rules` decides which rules of a scenario fire.
- `candidates` are the rules that a connection's messages may match.
- `merged_effects` merges the effects of all rules on a frame; `outcome` is what a rule has done so far.
- `manual_decision` is a person's decision about one message.
- `plan` decides for each API, version and direction which messages pass unread; `prefix_cache` decides it for
single requests by their first fields.
"""
