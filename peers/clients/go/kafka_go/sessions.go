// Sessions of segmentio's kafka-go.
package main

import (
	"context"
	"reflect"
	"time"

	kafka "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
)

var sessions = map[string]session{
	"consume":        consume,
	"group":          group,
	"produce":        produce,
	"transaction":    admin, // it has no transactional producer, only the requests
	"admin":          admin,
	"sasl":           sasl,
	"read-committed": readCommitted,
}

func within(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}

func transport() *kafka.Transport {
	return &kafka.Transport{DialTimeout: waiting, IdleTimeout: waiting, ClientID: "barnabas"}
}

func opened(bootstrap string, own kafka.ReaderConfig) *kafka.Reader {
	own.Brokers = []string{bootstrap}
	if own.Dialer == nil {
		own.Dialer = &kafka.Dialer{ClientID: "barnabas", Timeout: waiting}
	}
	own.MinBytes, own.MaxBytes = 1, 1<<20
	own.MaxWait = 20 * time.Millisecond
	own.ReadBackoffMin, own.ReadBackoffMax = 5*time.Millisecond, 10*time.Millisecond
	own.MaxAttempts = 2
	return kafka.NewReader(own)
}

// Reads so many records, as far as they come in time.
func read(ctx context.Context, reader *kafka.Reader, most int, patience time.Duration) []kafka.Message {
	ctx, cancel := within(ctx, patience)
	defer cancel()
	found := []kafka.Message{}
	for len(found) < most {
		message, err := reader.FetchMessage(ctx)
		if err != nil {
			break
		}
		found = append(found, message)
		headers := [][2][]byte{}
		for _, header := range message.Headers {
			headers = append(headers, [2][]byte{[]byte(header.Key), header.Value})
		}
		delivered.add(int32(message.Partition), message.Offset, message.Time, message.Key, message.Value, headers...)
	}
	return found
}

func consume(ctx context.Context, bootstrap, topic string) int {
	return consumeBy(ctx, bootstrap, topic, kafka.ReaderConfig{})
}

func readCommitted(ctx context.Context, bootstrap, topic string) int {
	return consumeBy(ctx, bootstrap, topic, kafka.ReaderConfig{IsolationLevel: kafka.ReadCommitted})
}

// The same behind a login.
func sasl(ctx context.Context, bootstrap, topic string) int {
	login := plain.Mechanism{Username: "barnabas", Password: "secret"}
	dialer := &kafka.Dialer{ClientID: "barnabas", Timeout: waiting, SASLMechanism: login}
	return consumeBy(ctx, bootstrap, topic, kafka.ReaderConfig{Dialer: dialer})
}

func consumeBy(ctx context.Context, bootstrap, topic string, own kafka.ReaderConfig) int {
	records := 0
	for partition := 0; partition < 2; partition++ {
		own.Topic, own.Partition = topic, partition
		one := opened(bootstrap, own)
		records += len(read(ctx, one, allRecords/2, reading))
		_ = one.Close()
	}
	return records
}

func group(ctx context.Context, bootstrap, topic string) int {
	member := opened(bootstrap, kafka.ReaderConfig{
		Topic:             topic,
		GroupID:           "bench-group",
		StartOffset:       kafka.FirstOffset,
		SessionTimeout:    waiting,
		RebalanceTimeout:  waiting,
		HeartbeatInterval: 100 * time.Millisecond,
		JoinGroupBackoff:  10 * time.Millisecond,
	})
	defer member.Close()
	found := read(ctx, member, allRecords, reading+joining)
	ctx, cancel := within(ctx, waiting)
	defer cancel()
	if len(found) > 0 {
		_ = member.CommitMessages(ctx, found[len(found)-1])
	}
	return len(found)
}

func produce(ctx context.Context, bootstrap, topic string) int {
	shared := transport()
	defer shared.CloseIdleConnections()
	writer := &kafka.Writer{
		Addr:         kafka.TCP(bootstrap),
		Topic:        topic,
		BatchTimeout: time.Millisecond,
		MaxAttempts:  2,
		RequiredAcks: kafka.RequireAll,
		ReadTimeout:  waiting,
		WriteTimeout: waiting,
		Transport:    shared,
	}
	defer writer.Close()
	ctx, cancel := within(ctx, waiting)
	defer cancel()
	_ = writer.WriteMessages(ctx, kafka.Message{Value: []byte("a")}, kafka.Message{Value: []byte("b")})
	return 0
}

// What an administrator asks: whatever requests this release has methods for, filled in by their fields' names.
func admin(ctx context.Context, bootstrap, topic string) int {
	shared := transport()
	defer shared.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: waiting, Transport: shared}
	ctx, stop := within(ctx, 2*waiting)
	defer stop()
	methods := reflect.ValueOf(client)
	names := []string{first}
	for number := 0; number < methods.NumMethod(); number++ {
		if name := methods.Type().Method(number).Name; name != first {
			names = append(names, name)
		}
	}
	for _, name := range names {
		method := methods.MethodByName(name)
		if !method.IsValid() || ctx.Err() != nil {
			continue
		}
		takes := method.Type()
		if takes.NumIn() != 2 || takes.In(1).Kind() != reflect.Ptr || name == "Produce" || name == "RawProduce" {
			continue // what a producer asks the writer does
		}
		request := reflect.New(takes.In(1).Elem())
		fill(request.Elem(), topic)
		ctx, cancel := within(ctx, waiting)
		method.Call([]reflect.Value{reflect.ValueOf(ctx), request})
		cancel()
	}
	return 0
}

// Fields that are known by name and type; of a list of structures, one.
func fill(request reflect.Value, topic string) {
	for number := 0; number < request.NumField(); number++ {
		field := request.Field(number)
		for _, value := range values(request.Type().Field(number).Name, topic) {
			if reflect.TypeOf(value).AssignableTo(field.Type()) {
				field.Set(reflect.ValueOf(value))
			}
		}
		if field.Kind() == reflect.Slice && field.Len() == 0 && field.Type().Elem().Kind() == reflect.Struct {
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			fill(field.Index(0), topic)
		}
	}
}

func values(name, topic string) []any {
	switch name {
	case "Topic", "Name", "ResourceName":
		return []any{topic}
	case "GroupID", "Key":
		return []any{"bench-group"}
	case "GroupIDs":
		return []any{[]string{"bench-group"}}
	case "TransactionalID":
		return []any{"bench-txn"}
	case "MemberID", "ID":
		return []any{"member-1"}
	case "GenerationID":
		return []any{1}
	case "MaxBytes":
		return []any{int64(1 << 20)}
	case "MaxWait":
		return []any{20 * time.Millisecond}
	case "ResourceType":
		return []any{kafka.ResourceTypeTopic}
	case "Topics":
		return []any{
			[]string{topic},
			map[string][]int{topic: {0, 1}},
			map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(0)}},
			map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: 3}}},
		}
	}
	return nil
}
