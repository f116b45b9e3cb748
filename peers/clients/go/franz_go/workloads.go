// Workloads of franz-go.
package main

import (
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
)

// It has the protocol of KIP-848 too, but hides it: consumer-protocol is none of these.
var workloads = map[string]workload{
	"produce":            sendAll,
	"idempotent":         sendAll,
	"compressed":         sendCompressed,
	"transact":           transactAll,
	"read-process-write": copyAll,
	"assign":             readPartitions,
	"group":              readInGroup,
	"cooperative":        readByTwo,
	"share-group":        readShared,
	"admin":              administer,
}

func (w *work) options(own ...kgo.Opt) []kgo.Opt {
	if w.broker != "" {
		own = append(own, kgo.MaxVersions(kversion.FromString(w.broker)))
	}
	return append([]kgo.Opt{kgo.SeedBrokers(w.bootstrap...)}, own...)
}

func (w *work) client(own ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(w.options(own...)...)
}
