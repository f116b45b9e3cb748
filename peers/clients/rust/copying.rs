//! The workload of rdkafka that reads, processes and writes, exactly once.

use crate::members::{Member, PendingRecords};
use crate::producing::{retry, send, transaction, transactional};
use crate::reading::{end_offsets, partition_list, read, report_committed, rewind, subscribed};
use crate::work::{Done, PlannedRecord, Work};
use rdkafka::consumer::Consumer;
use rdkafka::producer::Producer;
use std::sync::Arc;

/// Copy records to another topic, each in the transaction that commits its offset.
pub fn read_process_write(work: &Arc<Work>) -> Done {
    let pending = PendingRecords::new(work, true);
    pending.run_members(|member| copy(work, &pending, member))
}

fn copy(work: &Arc<Work>, pending: &PendingRecords, member: &Member) -> Done {
    let producer = transactional(work, &member.suffix)?;
    let consumer = subscribed(work, member, "read_committed")?;
    let (mut number, mut received) = (0, 0);
    while pending.unfinished()? && !member.leaves_after(received) {
        let records = read(work, &consumer)?;
        if records.is_empty() {
            continue;
        }
        number += 1;
        let name = format!("{number}{}", member.suffix);
        let offsets = end_offsets(&records);
        let fill = || {
            for record in &records {
                send(work, &producer, &PlannedRecord::copy(&record.id, &work.output), Some(&name))?;
            }
            let group = consumer.group_metadata().expect("the consumer is in a group");
            let list = partition_list(&offsets)?;
            retry(work, || producer.send_offsets_to_transaction(&list, &group, work.patience))?;
            Ok(true)
        };
        if transaction(work, &producer, &name, fill)? {
            received += records.len();
            report_committed(work, &offsets);
            for record in &records {
                pending.received(&record.id);
            }
        } else {
            rewind(work, &consumer)?;
        }
    }
    Ok(())
}
