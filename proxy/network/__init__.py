"""Sockets and processes' side: listening, relaying, TLS, asking brokers. Decisions are the connection's."""
