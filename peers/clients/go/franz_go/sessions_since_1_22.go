//go:build v1.22

package main

import "github.com/twmb/franz-go/pkg/kgo"

// Return the options of a group of the consumer rebalance protocol (KIP-848), which franz-go has since 1.22.
func serverSide() []kgo.Opt {
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())}
}
