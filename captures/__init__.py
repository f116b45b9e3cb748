"""What passed: capture files, TCP streams, exchanges, and what is said of them (pure logic, no sockets).

The way of a captured packet, room by room. A file of ours is read by the same way as one of tcpdump; only
what must be guessed in the latter is known.

1. `files/` lists the captures of a folder by content and time (`capture_folder.py`; `closed_files.py`: those
   that nobody writes any more), finds out what a file is, unpacks it as it is read, and makes packets,
   numbered as Wireshark does. Several files are merged by time.
2. `tcp/` finds the stream of a TCP segment and puts it in order: `fast_reassembly.py` is the hot path over
   runs of usual packets, `packets.py` reads any other one, `through_scapy.py` tunnels and rare link types. A
   TCP segment also waits for what its sender had acknowledged, so a response never comes before its request.
   What never comes is a gap.
3. `tls/` puts application data in the place of TLS whose keys are in a key log; the tag of a record is the
   proof that it was read right.
4. `kafka/` detects the protocol, cuts frames (behind a gap from the next frame that holds: frame_resync),
   pairs requests with responses, and completes what messages do not say: names of topic ids, partitions of
   fetch sessions, members, transactions. The hot path pairs usual frames by size, prefix and correlation
   id; bodies are decoded when somebody asks for them.
   `values/` reads keys and values of records, by schemas too, for who asks for them.
5. `checks/` judges exchanges, `summary/`, `search.py` and `diff/` describe them, `conversion/` writes them
   again. `writing/` is the proxy's side: pcapng, rotation, masked secrets, a sink that never slows traffic.

Segments are one capture cut between two packets: flows keep their addresses, sequence numbers and
connection numbers, so reading them is reading on. What a segment's reader must know of a flow is one empty
packet in front of the flow's first bytes in it. Behind a missing segment the gap shows. Who writes a
segment has a lock on it; `*.part` without a lock was being written by a proxy that was killed.

Words: a segment is such a file, and TCP's is always a TCP segment (`tcp` in code); `at` is an offset into
bytes and nothing else; what left was sent on by the proxy, what has yet to come or to be read is the rest.

Bounds: 1 MiB of a stream that waits for a missing TCP segment or has no handshake yet (64 MiB of all of the
latter), 4 MiB of one that may be Kafka or not (256 MiB of all), 16 MiB of fragments, 16 MiB of a direction
behind a gap, 65,536 streams, 10,000 requests without a response. Of TLS a record of each direction and
262,144 secrets; a direction is given up when 16,384 keys and numbers in a row did not fit. Bodies are
decoded under the proxy's budget of 64 MiB each.
"""
