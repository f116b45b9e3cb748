"""The programs that are run as clients, each with the releases of a client that a user names."""
