// Workloads of franz-go.
package main

import "github.com/twmb/franz-go/pkg/kgo"

var workloads = map[string]workload{
	"produce":            sendAll,
	"idempotent":         sendAll, // franz-go's default
	"compressed":         sendCompressed,
	"transact":           transactAll,
	"read-process-write": copyAll,
	"assign":             readPartitions,
	"group":              readInGroup,
	"share-group":        readShared,
	"admin":              administer,
}

func (w *work) options(more ...kgo.Opt) []kgo.Opt {
	if w.broker != "" {
		more = append(more, kgo.MaxVersions(versionsOf(w.broker)))
	}
	return append([]kgo.Opt{kgo.SeedBrokers(w.bootstrap...)}, more...)
}

func (w *work) client(more ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(w.options(more...)...)
}
