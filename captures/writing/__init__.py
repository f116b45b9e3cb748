"""Write captures: pcapng blocks, rotation, a sink that never slows traffic, masked secrets and payload."""
