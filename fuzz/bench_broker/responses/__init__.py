"""The responses of the bench's broker, a file for related APIs; see registry.py."""
