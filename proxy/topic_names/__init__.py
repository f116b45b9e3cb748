"""The names of topics that messages give by id.

`names` learns them from responses; `unresolved` decides which ones the proxy asks a broker for, and when.
"""
