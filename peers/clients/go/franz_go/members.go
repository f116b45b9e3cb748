// Members of groups by franz-go.
package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

func readInGroup(w *work) error { return w.readInGroup(w.join) }

func (w *work) join(m member, r *reader) (groupConsumer, error) {
	options, err := m.options()
	if err != nil {
		return nil, err
	}
	client, err := w.client(r.joining(options...)...)
	return groupClient{w, client, m.Settings.maxPoll()}, err
}

func (m member) options() ([]kgo.Opt, error) {
	options, s := []kgo.Opt{}, m.Settings
	switch {
	case s.Protocol == protocolConsumer && serverSide() == nil:
		return nil, notOfferedError{}
	case s.Protocol == protocolConsumer:
		options = append(options, serverSide()...)
	case s.Assignor == assignorCooperative:
		options = append(options, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	default:
		options = append(options, kgo.Balancers(kgo.RangeBalancer()))
	}
	if m.Pattern != "" {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(m.Pattern))
	}
	if s.InstanceID != "" {
		options = append(options, kgo.InstanceID(s.InstanceID))
	}
	if s.Rack != "" {
		options = append(options, kgo.Rack(s.Rack))
	}
	if s.MetadataMaxAgeMS > 0 { // the minimum age must be lower
		age := milliseconds(s.MetadataMaxAgeMS)
		options = append(options, kgo.MetadataMaxAge(age), kgo.MetadataMinAge(age/2))
	}
	if s.SessionTimeoutMS > 0 {
		timeout, interval := s.sessionTimeout()
		options = append(options, kgo.SessionTimeout(timeout), kgo.HeartbeatInterval(interval))
	}
	if s.FetchMinBytes > 0 {
		options = append(options, kgo.FetchMinBytes(int32(s.FetchMinBytes)))
	}
	if s.FetchMaxWaitMS != nil {
		options = append(options, kgo.FetchMaxWait(milliseconds(*s.FetchMaxWaitMS)))
	}
	if s.MaxPartitionBytes > 0 {
		options = append(options, kgo.FetchMaxPartitionBytes(int32(s.MaxPartitionBytes)))
	}
	return options, nil
}

type groupClient struct {
	w      *work
	client *kgo.Client
	most   int
}

func (g groupClient) poll() ([]record, error) { return polled(g.w.poll(g.client, g.most)), nil }

func (g groupClient) commit(last []record) bool {
	ctx, cancel := context.WithTimeout(context.Background(), g.w.patience)
	defer cancel()
	records := []*kgo.Record{}
	for _, l := range last {
		records = append(records, &kgo.Record{Topic: l.topic, Partition: l.partition, LeaderEpoch: l.epoch, Offset: l.offset})
	}
	return g.client.CommitRecords(ctx, records...) == nil
}

func (g groupClient) close() { g.client.Close() }

func (g groupClient) pause(partitions []topicPartition) {
	byTopic := map[string][]int32{}
	for _, p := range partitions {
		byTopic[p.topic] = append(byTopic[p.topic], p.partition)
	}
	g.client.PauseFetchPartitions(byTopic)
}

func (g groupClient) resume() { g.client.ResumeFetchPartitions(g.client.PauseFetchPartitions(nil)) }

func (g groupClient) rewind(partitions []topicPartition) {
	committed, offsets := g.client.CommittedOffsets(), map[string]map[int32]kgo.EpochOffset{}
	for _, p := range partitions {
		offset, has := committed[p.topic][p.partition]
		if !has || offset.Offset < 0 {
			offset = kgo.EpochOffset{Epoch: -1, Offset: 0}
		}
		if offsets[p.topic] == nil {
			offsets[p.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[p.topic][p.partition] = offset
	}
	g.client.SetOffsets(offsets)
}
