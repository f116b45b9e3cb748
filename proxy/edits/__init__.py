"""What the proxy changes without a rule: the addresses of brokers, and the versions that they offer."""
