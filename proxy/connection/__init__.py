"""One connection between a client and a broker, sans-IO: bytes and times in, actions out."""
