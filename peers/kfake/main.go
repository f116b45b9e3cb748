// franz-go's fake cluster (pkg/kfake), in memory: brokers on ports of the system's choice, with the topics that it is given. It
// prints their addresses and serves until stdin ends.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	brokers := flag.Int("brokers", 1, "number of brokers")
	flag.Parse()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(*brokers), kfake.Ports(make([]int, *brokers)...), kfake.SeedTopics(1, flag.Args()...))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(strings.Join(cluster.ListenAddrs(), ","))
	io.Copy(io.Discard, os.Stdin)
}
