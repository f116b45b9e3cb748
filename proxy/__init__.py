"""What happens between clients and brokers: the connection, rules and faults, the relay."""
