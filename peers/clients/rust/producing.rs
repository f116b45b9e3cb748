//! Workloads of rdkafka's producers.

use crate::work::{Done, PlannedRecord, Problem, Work, ATTEMPTS};
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::{Header, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::ClientContext;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub type Sender = BaseProducer<Deliveries>;

/// A record's id and topic.
type Record = Box<(String, String)>;

/// Reports the deliveries of a producer, and keeps its errors.
pub struct Deliveries {
    work: Arc<Work>,
    producer: String,
    errors: Mutex<Vec<KafkaError>>,
}

impl Deliveries {
    /// The first error of a record.
    fn check(&self) -> Done {
        self.errors.lock().unwrap().first().map_or(Ok(()), |error| Err(error.clone().into()))
    }
}

impl ClientContext for Deliveries {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, line: &str) {
        eprintln!("{facility} {line}");
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = Record;

    fn delivery(&self, result: &DeliveryResult<'_>, record: Record) {
        let (id, topic) = *record;
        match result {
            Ok(message) => self.work.acknowledged(&id, message.topic(), message.partition(), message.offset()),
            Err((error, _)) => {
                self.work.error(&id, &topic, error);
                // an aborted transaction and the end of a producer purge records
                if !matches!(error.rdkafka_error_code(), Some(RDKafkaErrorCode::PurgeQueue | RDKafkaErrorCode::PurgeInflight)) {
                    self.errors.lock().unwrap().push(error.clone());
                }
            }
        }
    }
}

/// The settings of any client, with its client id.
pub fn settings(work: &Work, id: &str) -> ClientConfig {
    let mut settings = ClientConfig::new();
    settings.set("bootstrap.servers", &work.bootstrap).set("client.id", id);
    if !work.broker.is_empty() {
        // brokers before 0.10 have no ApiVersions
        settings.set("api.version.request", "false").set("broker.version.fallback", &work.broker);
    }
    settings
}

fn producer(work: &Arc<Work>, name: &str, specific: &[(&str, &str)]) -> Result<Sender, Problem> {
    let mut settings = settings(work, name);
    for (name, value) in &work.settings {
        if name != "compression.type" || CODECS.contains(&value.as_str()) {
            settings.set(name, value);
        }
    }
    for (name, value) in specific {
        settings.set(*name, *value);
    }
    Ok(settings.create_with_context(Deliveries { work: work.clone(), producer: name.to_string(), errors: Mutex::default() })?)
}

/// A producer whose transactions can begin. suffix: of its name and its transactional.id.
pub fn transactional(work: &Arc<Work>, suffix: &str) -> Result<Sender, Problem> {
    let sender = producer(work, &format!("producer{suffix}"), &[("transactional.id", &format!("{}{suffix}", work.group))])?;
    retry(work, || sender.init_transactions(work.patience))?;
    Ok(sender)
}

/// Hand a record to a producer.
pub fn send(work: &Work, producer: &Sender, planned: &PlannedRecord, transaction: Option<&str>) -> Done {
    work.sent(&planned.id, &planned.topic, &producer.context().producer, transaction);
    let mut record = BaseRecord::with_opaque_to(&planned.topic, Box::new((planned.id.clone(), planned.topic.clone())));
    record.key = planned.key.as_ref();
    record.payload = planned.value.as_ref();
    record.partition = planned.partition;
    record.timestamp = planned.timestamp;
    if !planned.headers.is_empty() {
        let add = |all: OwnedHeaders, (key, value): &(String, String)| all.insert(Header { key, value: Some(value) });
        record.headers = Some(planned.headers.iter().fold(OwnedHeaders::new(), add));
    }
    if let Err((error, _)) = producer.send(record) {
        work.error(&planned.id, &planned.topic, &error);
        return Err(error.into());
    }
    producer.poll(Duration::ZERO);
    Ok(())
}

/// Send records.
pub fn produce(work: &Arc<Work>) -> Done {
    send_and_end(work, &[])
}

/// Send records with an idempotent producer.
pub fn idempotent(work: &Arc<Work>) -> Done {
    send_and_end(work, &[("enable.idempotence", "true")])
}

/// Send records, and end the last round by awaiting or flushing them, or by closing the producer.
fn send_and_end(work: &Arc<Work>, specific: &[(&str, &str)]) -> Done {
    let producer = producer(work, "producer", specific)?;
    let deliveries = producer.context().clone();
    for (number, sends) in work.rounds.iter().enumerate() {
        send_round(work, &producer, sends, None)?;
        if number + 1 < work.rounds.len() || work.ending == "await" {
            settle(work, &producer)?;
        }
    }
    let flushed = if work.ending == "flush" { producer.flush(work.patience) } else { Ok(()) };
    drop(producer); // fails the records that have no outcome yet
    deliveries.check().and(flushed.map_err(Problem::from))
}

/// Compressions that rdkafka has without other libraries.
const CODECS: [&str; 3] = ["none", "snappy", "lz4"];

/// Send records with each compression, by a producer for each.
pub fn compressed(work: &Arc<Work>) -> Done {
    let codecs: Vec<&str> = CODECS.into_iter().filter(|codec| work.codecs.iter().any(|known| known == codec)).collect();
    for (number, codec) in codecs.iter().enumerate() {
        let producer = producer(work, "producer", &[("compression.type", codec)])?;
        for sends in work.rounds.iter().skip(number).step_by(codecs.len()) {
            send_round(work, &producer, sends, None)?;
            settle(work, &producer)?;
        }
    }
    Ok(())
}

/// Hand the records of a round to a producer.
fn send_round(work: &Work, producer: &Sender, sends: &[Vec<PlannedRecord>], transaction: Option<&str>) -> Done {
    for records in sends {
        for record in records {
            send(work, producer, record, transaction)?;
        }
        thread::sleep(work.pause);
    }
    Ok(())
}

/// Wait until all records are acknowledged.
fn settle(work: &Work, producer: &Sender) -> Done {
    let flushed = producer.flush(work.patience);
    producer.context().check()?;
    match producer.in_flight_count() {
        0 => Ok(flushed?),
        count => Err(Problem::GaveUp(format!("{count} records are neither acknowledged nor failed"))),
    }
}

/// Send records in transactions and abort each third; a failed transaction is repeated.
pub fn transact(work: &Arc<Work>) -> Done {
    let producer = transactional(work, "")?;
    'next: for (number, sends) in work.rounds.iter().enumerate() {
        for attempt in 0..ATTEMPTS {
            let name = format!("{number}.{attempt}");
            let fill = || {
                send_round(work, &producer, sends, Some(&name))?;
                Ok(number % 3 != 2)
            };
            if transaction(work, &producer, &name, fill)? {
                continue 'next;
            }
        }
        return Err(Problem::GaveUp(format!("transaction {number} was aborted {ATTEMPTS} times")));
    }
    Ok(())
}

/// Run a transaction. fill: sends its records, and returns whether to commit it. False: it had to be aborted, and may be repeated.
pub fn transaction(work: &Work, producer: &Sender, name: &str, fill: impl Fn() -> Result<bool, Problem>) -> Result<bool, Problem> {
    let end = || {
        if fill()? {
            retry(work, || producer.commit_transaction(work.patience))?;
            work.ended(name, "committed");
        } else {
            let _ = producer.flush(work.patience);
            abort(work, producer, name)?;
        }
        Ok(true)
    };
    producer.begin_transaction()?;
    let ended = end();
    let failed = match &ended {
        Err(Problem::Kafka(KafkaError::Transaction(error))) => error.txn_requires_abort(),
        Err(Problem::Kafka(KafkaError::MessageProduction(_))) => true, // a failed transaction takes no records
        _ => false,
    };
    if failed {
        abort(work, producer, name)?;
        return Ok(false);
    }
    ended
}

fn abort(work: &Work, producer: &Sender, name: &str) -> Done {
    retry(work, || producer.abort_transaction(work.patience))?;
    work.ended(name, "aborted");
    Ok(())
}

/// Repeat a call until it succeeds, or fails with an error that librdkafka does not call retriable.
pub fn retry(work: &Work, run: impl Fn() -> KafkaResult<()>) -> KafkaResult<()> {
    let until = Instant::now() + work.patience;
    loop {
        match run() {
            Err(KafkaError::Transaction(error)) if error.is_retriable() && Instant::now() < until => (),
            ended => return ended,
        }
    }
}
