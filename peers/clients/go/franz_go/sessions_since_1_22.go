//go:build v1.22

package main

import "github.com/twmb/franz-go/pkg/kgo"

// What makes a group one of the protocol of KIP-848, which franz-go has since 1.22.
func serverSide() []kgo.Opt {
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())}
}
