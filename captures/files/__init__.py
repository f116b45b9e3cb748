"""Capture files of any origin: pcap and pcapng, compressed or not, folders of them, files only their owner reads."""
