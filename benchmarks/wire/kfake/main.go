// kfake, the cluster of franz-go's tests, in a process of its own: kfake BROKERS TOPIC PARTITIONS.
// It prints its addresses in a line, and goes on until its standard input ends.
package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	brokers, _ := strconv.Atoi(os.Args[1])
	partitions, _ := strconv.Atoi(os.Args[3])
	cluster, err := kfake.NewCluster(kfake.NumBrokers(brokers), kfake.SeedTopics(int32(partitions), os.Args[2]))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(strings.Join(cluster.ListenAddrs(), ","))
	io.Copy(io.Discard, os.Stdin)
}
