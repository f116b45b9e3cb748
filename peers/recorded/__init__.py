"""The broker of a capture: it answers a live client as the recorded ones did."""
