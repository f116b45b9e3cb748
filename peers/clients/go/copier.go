// The workload in Go that reads, processes and writes, exactly once.
package main

import "fmt"

// A library's consumer in the work's group, with a transactional producer.
type copier interface {
	poll() ([]record, error) // once, for a tenth of a second
	// Write copies in a transaction with the records' offsets. If it was aborted, the records are read again.
	copy(records []record, copies sends, transaction string) (committed bool, err error)
	close()
}

// Copy all records by the members. join: makes a library's copier.
func (w *work) copyAll(join func(r *reader, transactionalID string) (copier, error)) error {
	return w.runMembers(func(m member, pending *pendingRecords) error {
		r, transactionalID := w.reader(m.Name, event{"group": w.group, "isolation": "read_committed"}), w.group
		if m.Name != w.members[0].Name {
			transactionalID += "-" + m.Name
		}
		c, err := join(r, transactionalID)
		if err != nil {
			return err
		}
		defer c.close()
		transactions, written := 0, 0
		err = r.pollAll(pending, c.poll, func(records []record) error {
			if len(records) == 0 {
				return nil
			}
			transactions++
			name, copies := fmt.Sprintf("%s.%d", m.Name, transactions), []planned{}
			for _, original := range records {
				copies = append(copies, copyOf(original, w.output, m.Name))
			}
			committed, err := c.copy(records, sends{copies}, name)
			if err != nil {
				return err
			}
			if !committed {
				w.ended(name, "aborted")
				return nil
			}
			w.ended(name, "committed")
			w.committedAfter(records)
			written += len(records)
			_ = pending.received(records)
			if m.Leaves != nil && written >= *m.Leaves {
				return errLeaves
			}
			return nil
		})
		if err == errLeaves {
			return nil
		}
		return err
	})
}
