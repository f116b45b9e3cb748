// The workload of franz-go that reads, processes and writes, exactly once.
package main

import (
	"context"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Its session aborts where the group has met a rebalance, and reads again from what is committed where it has aborted.
func copyAll(w *work) error {
	r := w.reader("reader", event{"group": w.group, "isolation": "read_committed"})
	session, err := kgo.NewGroupTransactSession(w.options(r.joining(
		kgo.TransactionalID(w.group),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
	)...)...)
	if err != nil {
		return err
	}
	defer session.Close()
	missing := w.missing(true)
	for number := 1; ; number++ {
		if on, err := missing.goesOn(); !on {
			return err
		}
		records := r.poll(session, func([]byte) {})
		if len(records) == 0 {
			continue
		}
		committed, err := w.copied(session, records, strconv.Itoa(number))
		if err != nil {
			return err
		}
		for _, one := range records {
			if committed {
				missing.found(one.Value)
			} else {
				r.assigned(one.Topic, one.Partition)
			}
		}
	}
}

func (w *work) copied(session *kgo.GroupTransactSession, records []*kgo.Record, name string) (bool, error) {
	if err := session.Begin(); err != nil {
		return false, err
	}
	copies := []planned{}
	for _, one := range records {
		copies = append(copies, copied(w.output, one.Value))
	}
	failed := w.send(session, sends{copies}, name)
	ctx, cancel := context.WithTimeout(context.Background(), w.patience)
	defer cancel()
	committed, err := session.End(ctx, kgo.TransactionEndTry(failed == nil))
	if err != nil {
		return false, err
	}
	if !committed {
		w.ended(name, "aborted")
		return false, nil
	}
	w.ended(name, "committed")
	w.committedAll(records)
	return true, nil
}
