// The workload of franz-go that reads, processes and writes, exactly once.
package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"
)

func copyAll(w *work) error { return w.copyAll(w.joinCopying) }

func (w *work) joinCopying(r *reader, transactionalID string) (copier, error) {
	session, err := kgo.NewGroupTransactSession(w.options(r.joining(
		kgo.TransactionalID(transactionalID),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.RequireStableFetchOffsets(),
	)...)...)
	return copying{r, session}, err
}

// Franz-go's session aborts after a rebalance of the group. After each abort it reads again from the committed offsets.
type copying struct {
	*reader
	session *kgo.GroupTransactSession
}

func (c copying) poll() ([]record, error) { return polled(c.w.poll(c.session, atOnce)), nil }

func (c copying) close() { c.session.Close() }

func (c copying) copy(records []record, copies sends, transaction string) (bool, error) {
	if err := c.session.Begin(); err != nil {
		return false, err
	}
	failed := c.w.send(c.session, copies, transaction)
	ctx, cancel := context.WithTimeout(context.Background(), c.w.patience)
	defer cancel()
	committed, err := c.session.End(ctx, kgo.TransactionEndTry(failed == nil))
	if !committed && err == nil {
		for _, r := range records {
			c.assigned(r.topic, r.partition)
		}
	}
	return committed, err
}
