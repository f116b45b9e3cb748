// Sessions of the tests' own: a client that makes a slice as large as the answer says, and never touches it.
package main

import (
	"context"
	"encoding/binary"
	"io"
	"net"
)

var sessions = map[string]session{"consume": claim}
var workloads = map[string]workload{}

// Where the slice stays until the next session, so that it is not left on the stack.
var claimed []byte

func claim(ctx context.Context, bootstrap, topic string) int {
	conn, err := net.Dial("tcp", bootstrap)
	if err != nil {
		return 0
	}
	defer conn.Close()
	metadata := []byte{0, 0, 0, 14, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	head := make([]byte, 12)
	if _, err := conn.Write(metadata); err == nil {
		_, _ = io.ReadFull(conn, head)
	}
	claimed = make([]byte, binary.BigEndian.Uint32(head[8:]))
	return 1
}
