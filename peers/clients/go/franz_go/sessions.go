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
	"consume":     consume,
	"group":       group,
	"produce":     produce,
	"transaction": transaction,
	"admin":       admin,
	"sasl":        sasl,
}

func dial(bootstrap string, own ...kgo.Opt) *kgo.Client {
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
		fetches.EachRecord(func(*kgo.Record) { records++ })
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

func group(ctx context.Context, bootstrap, topic string) int {
	client := dial(bootstrap,
		kgo.ConsumerGroup("bench-group"),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SessionTimeout(waiting),
		kgo.RebalanceTimeout(waiting),
		kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.DisableAutoCommit(),
	)
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
	sort.SliceStable(requests, func(a, b int) bool { return isFirst(requests[a]) && !isFirst(requests[b]) })
	for _, request := range requests {
		_, _ = client.Request(ctx, request)
	}
	return 0
}

func isFirst(request kmsg.Request) bool {
	return kmsg.NameForKey(request.Key()) == first
}
