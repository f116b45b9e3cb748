// Sessions of sarama.
package main

import (
	"context"
	"sort"
	"time"

	"github.com/IBM/sarama"
)

var sessions = map[string]session{
	"consume":        consume,
	"group":          group,
	"produce":        produce,
	"transaction":    transaction,
	"admin":          admin,
	"sasl":           sasl,
	"read-committed": readCommitted,
	"sticky":         sticky,
}

func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.ClientID = "barnabas"
	c.Net.DialTimeout, c.Net.ReadTimeout, c.Net.WriteTimeout = waiting, waiting, waiting
	c.Metadata.Retry.Max, c.Metadata.Retry.Backoff = 2, 5*time.Millisecond
	c.Metadata.Timeout = waiting
	c.Admin.Timeout, c.Admin.Retry.Max, c.Admin.Retry.Backoff = waiting, 1, 5*time.Millisecond
	c.Consumer.Return.Errors = true
	c.Consumer.MaxWaitTime, c.Consumer.Retry.Backoff = 20*time.Millisecond, 5*time.Millisecond
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Enable = false
	c.Consumer.Group.Session.Timeout = waiting
	c.Consumer.Group.Heartbeat.Interval = 100 * time.Millisecond
	c.Consumer.Group.Rebalance.Timeout = waiting
	c.Consumer.Group.Rebalance.Retry.Max, c.Consumer.Group.Rebalance.Retry.Backoff = 1, 5*time.Millisecond
	c.Producer.Return.Successes = true
	c.Producer.Timeout, c.Producer.Retry.Max, c.Producer.Retry.Backoff = waiting, 1, 5*time.Millisecond
	return c
}

func consume(ctx context.Context, bootstrap, topic string) int {
	return consumeWith(ctx, bootstrap, topic, config())
}

// Consume after a login.
func sasl(ctx context.Context, bootstrap, topic string) int {
	c := config()
	c.Net.SASL.Enable, c.Net.SASL.Mechanism = true, sarama.SASLTypePlaintext
	c.Net.SASL.Version = sarama.SASLHandshakeV1
	c.Net.SASL.User, c.Net.SASL.Password = "barnabas", "secret"
	return consumeWith(ctx, bootstrap, topic, c)
}

func readCommitted(ctx context.Context, bootstrap, topic string) int {
	c := config()
	c.Consumer.IsolationLevel = sarama.ReadCommitted
	return consumeWith(ctx, bootstrap, topic, c)
}

func consumeWith(ctx context.Context, bootstrap, topic string, c *sarama.Config) int {
	client, err := sarama.NewClient([]string{bootstrap}, c)
	if err != nil {
		return 0
	}
	defer func() { _ = client.Close() }()
	_, _ = client.GetOffset(topic, 0, sarama.OffsetNewest)
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return 0
	}
	defer func() { _ = consumer.Close() }()
	messages := make(chan *sarama.ConsumerMessage)
	done := make(chan struct{})
	running := 0
	ended := make(chan struct{})
	for partition := int32(0); partition < 2; partition++ {
		part, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		if err != nil {
			continue
		}
		running++
		go func() {
			defer func() { ended <- struct{}{} }()
			defer func() { _ = part.Close() }()
			for {
				select {
				case message, open := <-part.Messages():
					if !open {
						return
					}
					deliver(message)
					select {
					case messages <- message:
					case <-done:
					}
				case <-part.Errors():
				case <-done:
					for len(part.Messages()) > 0 {
						deliver(<-part.Messages())
					}
					return
				}
			}
		}()
	}
	records := count(ctx, messages, running, reading)
	close(done)
	for ; running > 0; running-- {
		<-ended
	}
	return records
}

func deliver(message *sarama.ConsumerMessage) {
	headers := [][2][]byte{}
	for _, header := range message.Headers {
		headers = append(headers, [2][]byte{header.Key, header.Value})
	}
	delivered.add(message.Partition, message.Offset, message.Timestamp, message.Key, message.Value, headers...)
}

// Return the number of messages until all records are read or the time is up; 0 if no partition is read.
func count(ctx context.Context, messages <-chan *sarama.ConsumerMessage, running int, seconds time.Duration) int {
	records := 0
	over := time.After(seconds)
	for running > 0 && records < allRecords {
		select {
		case <-messages:
			records++
		case <-over:
			return records
		case <-ctx.Done():
			return records
		}
	}
	return records
}

type claimReader struct {
	messages chan *sarama.ConsumerMessage
}

func (claimReader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (claimReader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (m claimReader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			deliver(message)
			session.MarkMessage(message, "so far")
			if message.Offset%4 == 3 {
				session.Commit()
			}
			select {
			case m.messages <- message:
			case <-session.Context().Done():
				return nil
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

func group(ctx context.Context, bootstrap, topic string) int {
	return groupWith(ctx, bootstrap, topic, config())
}

func sticky(ctx context.Context, bootstrap, topic string) int {
	c := config()
	c.Consumer.Group.Rebalance.Strategy = sarama.BalanceStrategySticky
	return groupWith(ctx, bootstrap, topic, c)
}

func groupWith(ctx context.Context, bootstrap, topic string, c *sarama.Config) int {
	consumer, err := sarama.NewConsumerGroup([]string{bootstrap}, "bench-group", c)
	if err != nil {
		return 0
	}
	go func() {
		for range consumer.Errors() {
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	m := claimReader{make(chan *sarama.ConsumerMessage)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil && consumer.Consume(ctx, []string{topic}, m) == nil {
		}
	}()
	records := count(ctx, m.messages, 1, reading+joining)
	cancel()
	<-ended
	_ = consumer.Close()
	return records
}

func produce(ctx context.Context, bootstrap, topic string) int {
	c := config()
	c.Producer.RequiredAcks = sarama.WaitForAll
	return send(ctx, bootstrap, topic, c)
}

func transaction(ctx context.Context, bootstrap, topic string) int {
	c := config()
	c.Producer.Idempotent = true
	c.Producer.RequiredAcks = sarama.WaitForAll
	c.Net.MaxOpenRequests = 1
	c.Producer.Transaction.ID = "bench-txn"
	c.Producer.Transaction.Timeout = time.Second
	c.Producer.Transaction.Retry.Max, c.Producer.Transaction.Retry.Backoff = 1, 5*time.Millisecond
	return send(ctx, bootstrap, topic, c)
}

func send(ctx context.Context, bootstrap, topic string, c *sarama.Config) int {
	producer, err := sarama.NewSyncProducer([]string{bootstrap}, c)
	if err != nil {
		return 0
	}
	defer func() { _ = producer.Close() }()
	if producer.IsTransactional() && producer.BeginTxn() != nil {
		return 0
	}
	_, _, _ = producer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder("a")})
	if producer.IsTransactional() {
		offsets := []*sarama.PartitionOffsetMetadata{{Partition: 0, Offset: 3}}
		_ = producer.AddOffsetsToTxn(map[string][]*sarama.PartitionOffsetMetadata{topic: offsets}, "bench-group")
		_ = producer.CommitTxn()
	}
	return 0
}

// Send the requests of an administrator.
func admin(ctx context.Context, bootstrap, topic string) int {
	a, err := sarama.NewClusterAdmin([]string{bootstrap}, config())
	if err != nil {
		return 0
	}
	defer func() { _ = a.Close() }()
	over := time.Now().Add(waiting)
	calls := []struct {
		api  string
		send func()
	}{
		{"Metadata", func() { _, _, _ = a.DescribeCluster() }},
		{"-", func() { _, _ = a.ListTopics() }},
		{"-", func() { _, _ = a.DescribeTopics([]string{topic}) }},
		{"ListGroups", func() { _, _ = a.ListConsumerGroups() }},
		{"DescribeGroups", func() { _, _ = a.DescribeConsumerGroups([]string{"bench-group"}) }},
		{"OffsetFetch", func() { _, _ = a.ListConsumerGroupOffsets("bench-group", map[string][]int32{topic: {0, 1}}) }},
		{"DescribeConfigs", func() { _, _ = a.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic}) }},
		{"ListPartitionReassignments", func() { _, _ = a.ListPartitionReassignments(topic, []int32{0, 1}) }},
		{"AlterPartitionReassignments", func() { _ = a.AlterPartitionReassignments(topic, [][]int32{{0}}) }},
		{"DescribeUserScramCredentials", func() { _, _ = a.DescribeUserScramCredentials([]string{"bench"}) }},
		{"DescribeClientQuotas", func() { _, _ = a.DescribeClientQuotas(nil, false) }},
		{"DescribeLogDirs", func() { _, _ = a.DescribeLogDirs([]int32{0}) }},
		{"DescribeAcls", func() { _, _ = a.ListAcls(sarama.AclFilter{}) }},
		{"CreateTopics", func() { _ = a.CreateTopic("other", &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1}, false) }},
		{"CreatePartitions", func() { _ = a.CreatePartitions(topic, 3, nil, false) }},
		{"DeleteRecords", func() { _ = a.DeleteRecords(topic, map[int32]int64{0: 1}) }},
		{"DeleteTopics", func() { _ = a.DeleteTopic("other") }},
		{"OffsetDelete", func() { _ = a.DeleteConsumerGroupOffset("bench-group", topic, 0) }},
		{"DeleteGroups", func() { _ = a.DeleteConsumerGroup("bench-group") }},
	}
	sort.SliceStable(calls, func(a, b int) bool { return calls[a].api == first && calls[b].api != first })
	for _, call := range calls {
		if ctx.Err() == nil && time.Now().Before(over) {
			call.send()
		}
	}
	return 0
}
