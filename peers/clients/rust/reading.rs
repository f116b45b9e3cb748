//! Workloads of rdkafka's consumers.

use crate::members::{Member, PendingRecords};
use crate::producing::settings;
use crate::work::{Done, Problem, Reader, Work, AT_ONCE};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::ClientContext;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

pub type GroupConsumer = BaseConsumer<Assignment>;

/// Offsets by topic and partition.
pub type Offsets = BTreeMap<(String, i32), i64>;

/// Reports a consumer's assignments, and forgets uncommitted offsets of revoked partitions.
pub struct Assignment {
    reader: Reader,
    uncommitted: Mutex<Offsets>,
}

impl Assignment {
    fn uncommitted(&self) -> MutexGuard<'_, Offsets> {
        self.uncommitted.lock().unwrap()
    }
}

impl ClientContext for Assignment {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, line: &str) {
        eprintln!("{facility} {line}");
    }
}

impl ConsumerContext for Assignment {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        match rebalance {
            Rebalance::Assign(partitions) => {
                for partition in partitions.elements() {
                    self.reader.assigned(partition.topic(), partition.partition());
                }
            }
            Rebalance::Revoke(partitions) => {
                for partition in partitions.elements() {
                    self.uncommitted().remove(&(partition.topic().to_string(), partition.partition()));
                }
            }
            Rebalance::Error(_) => (),
        }
    }
}

/// A record that was read.
pub struct Record {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    pub id: String,
}

/// Read all records of assigned partitions, without a group.
pub fn assign(work: &Arc<Work>) -> Done {
    let (pending, reader) = (PendingRecords::new(work, false), Reader::new(work, "reader", false, "read_uncommitted"));
    let mut partitions = TopicPartitionList::new();
    for topic in &work.topics {
        for partition in 0..work.partitions {
            partitions.add_partition_offset(topic, partition, Offset::Beginning)?;
            reader.assigned(topic, partition);
        }
    }
    let consumer = consumer(work, reader, &[])?;
    consumer.assign(&partitions)?;
    while pending.unfinished()? {
        for record in read(work, &consumer)? {
            pending.received(&record.id);
        }
    }
    Ok(())
}

/// Read and commit all records by the members of a group.
pub fn group(work: &Arc<Work>) -> Done {
    let pending = PendingRecords::new(work, true);
    pending.run_members(|member| read_and_commit(work, &pending, member))
}

/// The polls with records before each pause, and before the return to the committed offsets.
const POLLS: usize = 3;
/// Polls while partitions are paused.
const PAUSED_POLLS: usize = 2;

fn read_and_commit(work: &Work, pending: &PendingRecords, member: &Member) -> Done {
    let consumer = subscribed(work, member, "read_uncommitted")?;
    let (mut polls, mut received) = (0, 0);
    let mut paused: Option<(TopicPartitionList, usize)> = None; // with the number of the next poll
    while pending.unfinished()? && !member.leaves_after(received) {
        let records = read(work, &consumer)?;
        if !records.is_empty() {
            polls += 1;
            received += records.len();
            for record in &records {
                pending.received(&record.id);
            }
            consumer.context().uncommitted().extend(end_offsets(&records));
            thread::sleep(member.working_time(polls));
            if member.rewinds && polls == POLLS {
                rewind(work, &consumer)?;
            } else {
                commit(work, &consumer, if member.partial { 1 } else { usize::MAX })?;
            }
        }
        paused = match paused {
            // librdkafka's partitions stay paused when they are revoked: resume these, not the assigned ones
            Some((partitions, PAUSED_POLLS)) => {
                consumer.resume(&partitions)?;
                None
            }
            Some((partitions, count)) => Some((partitions, count + 1)),
            None if member.pauses && !records.is_empty() && polls % POLLS == 0 => {
                let partitions = consumer.assignment()?;
                consumer.pause(&partitions)?;
                Some((partitions, 1))
            }
            None => None,
        };
    }
    commit(work, &consumer, usize::MAX)
}

/// Commit the uncommitted offsets of the first partitions. After an error they stay uncommitted, and their records may come again.
fn commit(work: &Work, consumer: &GroupConsumer, partitions: usize) -> Done {
    let offsets: Offsets = consumer.context().uncommitted().clone().into_iter().take(partitions).collect();
    if !offsets.is_empty() && consumer.commit(&partition_list(&offsets)?, CommitMode::Sync).is_ok() {
        report_committed(work, &offsets);
        consumer.context().uncommitted().retain(|partition, offset| offsets.get(partition) != Some(offset));
    }
    Ok(())
}

pub fn report_committed(work: &Work, offsets: &Offsets) {
    for ((topic, partition), offset) in offsets {
        work.committed(topic, *partition, *offset);
    }
}

/// The offsets after these records.
pub fn end_offsets(records: &[Record]) -> Offsets {
    records.iter().map(|record| ((record.topic.clone(), record.partition), record.offset + 1)).collect()
}

pub fn partition_list(offsets: &Offsets) -> Result<TopicPartitionList, Problem> {
    let mut partitions = TopicPartitionList::new();
    for ((topic, partition), offset) in offsets {
        partitions.add_partition_offset(topic, *partition, Offset::Offset(*offset))?;
    }
    Ok(partitions)
}

/// Seek to the committed offsets of the group.
pub fn rewind(work: &Work, consumer: &GroupConsumer) -> Done {
    consumer.context().uncommitted().clear();
    for committed in consumer.committed(work.patience)?.elements() {
        committed.error()?;
        let offset = match committed.offset() {
            Offset::Invalid => Offset::Beginning,
            offset => offset,
        };
        match consumer.seek(committed.topic(), committed.partition(), offset, work.patience) {
            // a partition that is not fetched yet begins at the committed offset
            Err(error) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::State) => (),
            sought => sought?,
        }
        consumer.context().reader.assigned(committed.topic(), committed.partition());
    }
    Ok(())
}

/// A consumer of a member, which has subscribed.
pub fn subscribed(work: &Work, member: &Member, isolation: &str) -> Result<GroupConsumer, Problem> {
    let reader = Reader::new(work, &member.name, true, isolation);
    let consumer = consumer(work, reader, &[&[("isolation.level".to_string(), isolation.to_string())], &translated(member)[..]].concat())?;
    match &member.pattern {
        Some(pattern) => consumer.subscribe(&[pattern])?,
        None => consumer.subscribe(&work.topics.iter().map(String::as_str).collect::<Vec<_>>())?,
    }
    Ok(consumer)
}

/// The longest interval between heartbeats, in ms: librdkafka's default.
const HEARTBEAT: u64 = 3000;

/// The settings of a member by librdkafka's names.
fn translated(member: &Member) -> Vec<(String, String)> {
    let classic = !member.settings.iter().any(|(name, value)| name == "group.protocol" && value == "consumer");
    let mut settings = Vec::new();
    for (name, value) in &member.settings {
        let setting = |name: &str| (name.to_string(), value.clone());
        match name.as_str() {
            "max.poll.records" => (), // librdkafka has no such setting
            "fetch.max.wait.ms" => settings.push(setting("fetch.wait.max.ms")),
            "metadata.max.age.ms" => settings.push(setting("topic.metadata.refresh.interval.ms")),
            "session.timeout.ms" if classic => {
                let heartbeat = value.parse().map_or(HEARTBEAT, |session: u64| HEARTBEAT.min(session / 3));
                settings.extend([setting(name), ("heartbeat.interval.ms".to_string(), heartbeat.to_string())]);
            }
            "session.timeout.ms" => (), // the brokers decide
            _ => settings.push(setting(name)),
        }
    }
    settings
}

/// A consumer that commits nothing by itself. Not offered if the library lacks one of the settings.
fn consumer(work: &Work, reader: Reader, specific: &[(String, String)]) -> Result<GroupConsumer, Problem> {
    let mut settings = settings(work, &reader.name);
    settings.set("group.id", &work.group).set("auto.offset.reset", "earliest").set("enable.auto.commit", "false");
    for (name, value) in specific {
        settings.set(name, value);
    }
    settings.create_with_context(Assignment { reader, uncommitted: Mutex::default() }).map_err(|error| match error {
        KafkaError::ClientConfig(..) => Problem::NotOffered,
        other => other.into(),
    })
}

/// The id of a record: its value up to the padding, or its key if it has no value.
fn record_id(message: &impl Message) -> String {
    let value = message.payload().unwrap_or_default().split(|byte| *byte == b'|').next().unwrap_or_default();
    let id = if value.is_empty() { message.key().unwrap_or_default() } else { value };
    String::from_utf8_lossy(id).into_owned()
}

/// Poll once, and report each record. librdkafka recovers from errors that are not fatal by itself.
pub fn read(work: &Work, consumer: &GroupConsumer) -> Result<Vec<Record>, Problem> {
    let mut records = Vec::new();
    let mut wait = Duration::from_millis(100);
    while records.len() < AT_ONCE {
        match consumer.poll(wait) {
            Some(Ok(message)) => {
                let (topic, partition, offset, id) = (message.topic(), message.partition(), message.offset(), record_id(&message));
                consumer.context().reader.consumed(topic, partition, offset, &id);
                records.push(Record { topic: topic.to_string(), partition, offset, id });
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => return Err(error.into()),
            Some(Err(error)) => *work.poll_error.lock().unwrap() = Some(error),
            None => break,
        }
        wait = Duration::ZERO;
    }
    Ok(records)
}
