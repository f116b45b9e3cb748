"""Plug-ins of the user: checks and faults, named as `module:TUPLE`."""
