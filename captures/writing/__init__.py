"""Captures written: pcapng blocks, rotation, a sink that never slows traffic, secrets and payload masked."""
