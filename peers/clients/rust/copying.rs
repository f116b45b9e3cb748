//! The workload of rdkafka that reads, processes and writes, exactly once.

use crate::producing::{again, send, transaction, transactional};
use crate::reading::{ends, read, subscribed, told, Member};
use crate::work::{Done, Missing, Planned, Reader, Work};
use rdkafka::consumer::Consumer;
use rdkafka::producer::Producer;
use rdkafka::topic_partition_list::Offset;
use std::sync::Arc;

/// Copy records to another topic, each in the transaction that commits its offset.
pub fn read_process_write(work: &Arc<Work>) -> Done {
    let (missing, reader) = (Missing::new(work, true), Reader::new(work, "reader", true, "read_committed"));
    let producer = transactional(work)?;
    let consumer = subscribed(work, &reader, &[("isolation.level", "read_committed")])?;
    let mut number = 0;
    while missing.goes_on()? {
        let found = read(&consumer, &reader)?;
        if found.is_empty() {
            continue;
        }
        number += 1;
        let name = number.to_string();
        let fill = || {
            for one in &found {
                send(work, &producer, &Planned::copy(&one.id, &work.output), Some(&name))?;
            }
            let about = consumer.group_metadata().expect("it is in a group");
            let places = ends(&found)?;
            again(work, || producer.send_offsets_to_transaction(&places, &about, work.patience))?;
            Ok(true)
        };
        if transaction(work, &producer, &name, fill)? {
            told(work, &found)?;
            for one in &found {
                missing.found(&one.id);
            }
        } else {
            rewind(work, &consumer, &reader)?;
        }
    }
    Ok(())
}

/// Read again from what the group has committed.
fn rewind(work: &Work, consumer: &Member, reader: &Reader) -> Done {
    for place in consumer.committed(work.patience)?.elements() {
        let offset = match place.offset() {
            Offset::Invalid => Offset::Beginning,
            committed => committed,
        };
        consumer.seek(place.topic(), place.partition(), offset, work.patience)?;
        reader.got(place.topic(), place.partition());
    }
    Ok(())
}
