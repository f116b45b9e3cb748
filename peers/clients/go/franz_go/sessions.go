// Sessions of franz-go.
package main

import (
	"context"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

var sessions = map[string]session{
	"consume":           consume,
	"group":             group,
	"consumer-protocol": consumerProtocol,
	"share-group":       shareGroup,
	"produce":           produce,
	"transaction":       transaction,
	"admin":             admin,
	"sasl":              sasl,
	"telemetry":         telemetry,
	"read-committed":    readCommitted,
	"sticky":            sticky,
	"cooperative":       cooperative,
}

func dial(bootstrap string, own ...kgo.Opt) *kgo.Client {
	return dialWith(bootstrap, append(pushing(false), own...)...)
}

func dialWith(bootstrap string, own ...kgo.Opt) *kgo.Client {
	common := []kgo.Opt{
		kgo.SeedBrokers(bootstrap),
		kgo.ClientID("barnabas"),
		kgo.DialTimeout(waiting),
		kgo.RequestTimeoutOverhead(waiting),
		kgo.RetryTimeout(waiting),
		kgo.RequestRetries(3),
		kgo.RetryBackoffFn(func(int) time.Duration { return 5 * time.Millisecond }),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.FetchMaxWait(20 * time.Millisecond),
	}
	client, err := kgo.NewClient(append(common, own...)...)
	if err != nil {
		panic("this program's options: " + err.Error())
	}
	return client
}

func read(ctx context.Context, client *kgo.Client, seconds time.Duration) int {
	ctx, cancel := context.WithTimeout(ctx, seconds)
	defer cancel()
	records := 0
	for records < allRecords && ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		if fetches.IsClientClosed() {
			break
		}
		fetches.EachRecord(func(one *kgo.Record) {
			records++
			headers := [][2][]byte{}
			for _, header := range one.Headers {
				headers = append(headers, [2][]byte{[]byte(header.Key), header.Value})
			}
			delivered.add(one.Partition, one.Offset, one.Timestamp, one.Key, one.Value, headers...)
		})
	}
	return records
}

func consume(ctx context.Context, bootstrap, topic string) int {
	return consumeWith(ctx, bootstrap, topic)
}

// The same behind a login.
func sasl(ctx context.Context, bootstrap, topic string) int {
	return consumeWith(ctx, bootstrap, topic, kgo.SASL(plain.Auth{User: "barnabas", Pass: "secret"}.AsMechanism()))
}

func consumeWith(ctx context.Context, bootstrap, topic string, own ...kgo.Opt) int {
	start := kgo.NewOffset().AtStart()
	both := kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: start, 1: start}})
	client := dial(bootstrap, append(own, both)...)
	defer client.Close()
	return read(ctx, client, reading)
}

func readCommitted(ctx context.Context, bootstrap, topic string) int {
	return consumeWith(ctx, bootstrap, topic, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
}

// The default is the cooperative sticky assignor, and brokers choose among all that are offered.
func group(ctx context.Context, bootstrap, topic string) int {
	return groupWith(ctx, bootstrap, topic, kgo.Balancers(kgo.RangeBalancer(), kgo.StickyBalancer(), kgo.CooperativeStickyBalancer()))
}

func sticky(ctx context.Context, bootstrap, topic string) int {
	return groupWith(ctx, bootstrap, topic, kgo.Balancers(kgo.StickyBalancer()))
}

func cooperative(ctx context.Context, bootstrap, topic string) int {
	return groupWith(ctx, bootstrap, topic, kgo.Balancers(kgo.CooperativeStickyBalancer()))
}

// The same in a group of the protocol of KIP-848, where the library has it.
func consumerProtocol(ctx context.Context, bootstrap, topic string) int {
	own := serverSide()
	if own == nil {
		return 0
	}
	return groupWith(ctx, bootstrap, topic, own...)
}

func groupWith(ctx context.Context, bootstrap, topic string, own ...kgo.Opt) int {
	client := dial(bootstrap, append(own,
		kgo.ConsumerGroup("bench-group"),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(waiting),
		kgo.RebalanceTimeout(waiting),
		kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.DisableAutoCommit(),
	)...)
	defer client.Close()
	records := read(ctx, client, reading+joining)
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	_ = client.CommitUncommittedOffsets(ctx)
	return records
}

func produce(ctx context.Context, bootstrap, topic string) int {
	client := dial(bootstrap, kgo.DefaultProduceTopic(topic), kgo.RecordDeliveryTimeout(time.Second))
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	client.ProduceSync(ctx, kgo.StringRecord("a"), kgo.StringRecord("b"))
	return 0
}

// Push metrics: at once when the client is closed, or by itself after at least half a second.
func telemetry(ctx context.Context, bootstrap, topic string) int {
	client := dialWith(bootstrap, append(pushing(true), kgo.DefaultProduceTopic(topic))...)
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, waiting/5)
	defer cancel()
	client.ProduceSync(ctx, kgo.StringRecord("a"))
	<-ctx.Done()
	return 0
}

func transaction(ctx context.Context, bootstrap, topic string) int {
	client := dial(bootstrap,
		kgo.TransactionalID("bench-txn"),
		kgo.DefaultProduceTopic(topic),
		kgo.RecordDeliveryTimeout(time.Second),
	)
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	if client.BeginTransaction() == nil {
		client.ProduceSync(ctx, kgo.StringRecord("a"))
		_ = client.EndTransaction(ctx, kgo.TryCommit)
	}
	return 0
}

// What an administrator asks, in the newest version that both sides have.
func admin(ctx context.Context, bootstrap, topic string) int {
	client := dial(bootstrap)
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, waiting)
	defer cancel()
	groups := kmsg.NewPtrDescribeGroupsRequest()
	groups.Groups = []string{"bench-group"}
	offsets := kmsg.NewPtrOffsetFetchRequest()
	offsets.Group = "bench-group"
	configs := kmsg.NewPtrDescribeConfigsRequest()
	resource := kmsg.NewDescribeConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	configs.Resources = append(configs.Resources, resource)
	create := kmsg.NewPtrCreateTopicsRequest()
	created := kmsg.NewCreateTopicsRequestTopic()
	created.Topic, created.NumPartitions, created.ReplicationFactor = "other", 1, 1
	create.Topics = append(create.Topics, created)
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Groups = []string{"bench-group"}
	transactions := kmsg.NewPtrDescribeTransactionsRequest()
	transactions.TransactionalIDs = []string{"bench-txn"}
	requests := []kmsg.Request{
		kmsg.NewPtrMetadataRequest(),
		kmsg.NewPtrListGroupsRequest(),
		groups,
		offsets,
		configs,
		create,
		remove,
		kmsg.NewPtrDescribeClusterRequest(),
		kmsg.NewPtrDescribeACLsRequest(),
		kmsg.NewPtrDescribeLogDirsRequest(),
		kmsg.NewPtrListPartitionReassignmentsRequest(),
		kmsg.NewPtrDescribeClientQuotasRequest(),
		kmsg.NewPtrDescribeUserSCRAMCredentialsRequest(),
		kmsg.NewPtrListTransactionsRequest(),
		transactions,
	}
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		if request := kmsg.RequestForKey(key); request != nil && !elsewhere[key] && !asks(requests, key) {
			requests = append(requests, request)
		}
	}
	sort.SliceStable(requests, func(a, b int) bool { return isFirst(requests[a]) && !isFirst(requests[b]) })
	for _, request := range requests {
		_, _ = client.Request(ctx, request)
	}
	return 0
}

// What other sessions ask with more sense, or what would end the connection.
var elsewhere = map[int16]bool{0: true, 1: true, 17: true, 18: true, 36: true, 76: true, 78: true}

func asks(requests []kmsg.Request, key int16) bool {
	for _, one := range requests {
		if one.Key() == key {
			return true
		}
	}
	return false
}

func isFirst(request kmsg.Request) bool {
	return kmsg.NameForKey(request.Key()) == first
}
