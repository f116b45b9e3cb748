//! Workloads of rdkafka: those that read.

use crate::producing::{settings, text};
use crate::work::{Done, Missing, Problem, Reader, Work, AT_ONCE};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::KafkaError;
use rdkafka::message::Message;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::ClientContext;
use std::sync::Arc;
use std::time::Duration;

pub type Member = BaseConsumer<Assigned>;

/// Tells what is assigned.
pub struct Assigned(Reader);

impl ClientContext for Assigned {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, line: &str) {
        eprintln!("{facility} {line}");
    }
}

impl ConsumerContext for Assigned {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Assign(places) = rebalance {
            for place in places.elements() {
                self.0.got(place.topic(), place.partition());
            }
        }
    }
}

/// A record that was read.
pub struct Found {
    pub topic: String,
    pub partition: i32,
    pub offset: i64,
    pub id: String,
}

/// Read all records of partitions that it chose itself.
pub fn assign(work: &Arc<Work>) -> Done {
    let (missing, reader) = (Missing::new(work, false), Reader::new(work, "reader", false, "read_uncommitted"));
    let consumer = consumer(work, &reader, &[])?;
    let mut places = TopicPartitionList::new();
    for partition in 0..work.partitions {
        places.add_partition_offset(&work.topic, partition, Offset::Beginning)?;
        reader.got(&work.topic, partition);
    }
    consumer.assign(&places)?;
    while missing.goes_on()? {
        for one in read(&consumer, &reader)? {
            missing.found(&one.id);
        }
    }
    Ok(())
}

/// Read all records in a group, committing what was read.
pub fn group(work: &Arc<Work>) -> Done {
    member(work, &Missing::new(work, true), "reader", &[])
}

/// The same by two members, who keep what stays theirs in a rebalance.
pub fn cooperative(work: &Arc<Work>) -> Done {
    two_members(work, &[("partition.assignment.strategy", "cooperative-sticky")])
}

/// The same in a group of the protocol of KIP-848.
pub fn consumer_protocol(work: &Arc<Work>) -> Done {
    two_members(work, &[("group.protocol", "consumer")])
}

fn two_members(work: &Arc<Work>, own: &[(&str, &str)]) -> Done {
    let missing = Missing::new(work, true);
    missing.by_two(|name| member(work, &missing, name, own))
}

fn member(work: &Work, missing: &Missing, name: &str, own: &[(&str, &str)]) -> Done {
    let reader = Reader::new(work, name, true, "read_uncommitted");
    let isolation = [&[("isolation.level", "read_uncommitted")], own].concat();
    let consumer = subscribed(work, &reader, &isolation)?;
    while missing.goes_on()? {
        let found = read(&consumer, &reader)?;
        for one in &found {
            missing.found(&one.id);
        }
        if found.is_empty() || consumer.commit(&ends(&found)?, CommitMode::Sync).is_err() {
            continue; // what was not committed may come again
        }
        told(work, &found)?;
    }
    Ok(())
}

/// Say that the offsets behind these are committed.
pub fn told(work: &Work, found: &[Found]) -> Done {
    for place in ends(found)?.elements() {
        work.committed(place.topic(), place.partition(), place.offset().to_raw().unwrap_or(-1));
    }
    Ok(())
}

/// The offsets behind what came.
pub fn ends(found: &[Found]) -> Result<TopicPartitionList, Problem> {
    let mut places = TopicPartitionList::new();
    for one in found {
        if places.find_partition(&one.topic, one.partition).is_none() {
            places.add_partition(&one.topic, one.partition);
        }
        places.set_partition_offset(&one.topic, one.partition, Offset::Offset(one.offset + 1))?;
    }
    Ok(places)
}

/// A consumer that has subscribed to the work's topic.
pub fn subscribed(work: &Work, reader: &Reader, own: &[(&str, &str)]) -> Result<Member, Problem> {
    let one = consumer(work, reader, own)?;
    one.subscribe(&[&work.topic])?;
    Ok(one)
}

/// One that commits by itself nothing. Not offered if it has no such setting.
fn consumer(work: &Work, reader: &Reader, own: &[(&str, &str)]) -> Result<Member, Problem> {
    let mut settings = settings(work, &reader.name);
    settings.set("group.id", &work.group).set("auto.offset.reset", "earliest").set("enable.auto.commit", "false");
    for (name, value) in own {
        settings.set(*name, *value);
    }
    settings.create_with_context(Assigned(reader.clone())).map_err(|error| match error {
        KafkaError::ClientConfig(..) => Problem::NotOffered,
        other => other.into(),
    })
}

/// What came, told. An error that is not fatal librdkafka gets over by itself.
pub fn read(consumer: &Member, reader: &Reader) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    let mut wait = Duration::from_millis(100);
    while found.len() < AT_ONCE {
        match consumer.poll(wait) {
            Some(Ok(one)) => {
                let id = text(&one);
                reader.consumed(one.topic(), one.partition(), one.offset(), &id);
                found.push(Found { topic: one.topic().to_string(), partition: one.partition(), offset: one.offset(), id });
            }
            Some(Err(error @ KafkaError::MessageConsumptionFatal(_))) => return Err(error.into()),
            Some(Err(_)) => (),
            None => break,
        }
        wait = Duration::ZERO;
    }
    Ok(found)
}
