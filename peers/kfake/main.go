// franz-go's fake cluster (pkg/kfake), in memory: brokers with the topics that it is given, and those that clients ask
// for, on ports of the system's choice or from a given one on. It prints their addresses and serves until stdin ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	brokers := flag.Int("brokers", 1, "number of brokers")
	port := flag.Int("port", 0, "port of the first broker; 0: any")
	shortest := flag.Duration("min-session-timeout", 6*time.Second, "shortest session timeout of groups")
	flag.Parse()
	ports := make([]int, *brokers)
	for at := range ports {
		if *port > 0 {
			ports[at] = *port + at
		}
	}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(*brokers), kfake.Ports(ports...), kfake.SeedTopics(1, flag.Args()...),
		kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(4), // as librdkafka's mock does
		kfake.GroupMinSessionTimeout(*shortest),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(strings.Join(cluster.ListenAddrs(), ","))
	io.Copy(io.Discard, os.Stdin)
}
