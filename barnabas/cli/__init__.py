"""The command line, a folder a group of commands; each command imports what it needs when it runs."""
