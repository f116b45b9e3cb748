//go:build v1.21

// Sessions with what franz-go has since 1.21: share groups (KIP-932), and metrics that can be told not to come (KIP-714).
package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

func pushing(metrics bool) []kgo.Opt {
	if metrics {
		return nil
	}
	return []kgo.Opt{kgo.DisableClientMetrics()}
}

func shareGroup(ctx context.Context, bootstrap, topic string) int {
	client := dial(bootstrap, kgo.ShareGroup("bench-group"), kgo.ConsumeTopics(topic))
	defer client.Close()
	records := read(ctx, client, reading+joining)
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	_ = client.FlushAcks(ctx)
	return records
}
