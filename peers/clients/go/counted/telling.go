// What a counted program does beside: it tells its counters since it was last asked (fuzz/coverage/golang.py).
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"runtime/coverage"
)

func init() {
	asker, err := net.Dial("tcp", os.Getenv("BARNABAS_COVERAGE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "nobody to tell counters:", err)
		os.Exit(64)
	}
	go tell(asker)
}

func tell(asker net.Conn) {
	for asked := make([]byte, 1); ; {
		if _, err := asker.Read(asked); err != nil {
			return
		}
		told := bytes.NewBuffer(make([]byte, 4))
		err := coverage.WriteCounters(told)
		if err == nil {
			err = coverage.ClearCounters()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "can't tell counters:", err)
			os.Exit(64)
		}
		binary.BigEndian.PutUint32(told.Bytes(), uint32(told.Len()-4))
		if _, err := asker.Write(told.Bytes()); err != nil {
			return
		}
	}
}
