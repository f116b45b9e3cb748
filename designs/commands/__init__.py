"""The commands that the designs add: `barnabas peers produce` and `barnabas peers consume`."""
