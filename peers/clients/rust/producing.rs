//! Workloads of rdkafka: those that write.

use crate::work::{Done, Planned, Problem, Work, ATTEMPTS};
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::{Header, Message, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, DeliveryResult, Producer, ProducerContext};
use rdkafka::ClientContext;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub type Sender = BaseProducer<Deliveries>;

/// Tells what is acknowledged, and keeps what failed.
pub struct Deliveries {
    work: Arc<Work>,
    failed: Mutex<Vec<KafkaError>>,
}

impl ClientContext for Deliveries {
    fn log(&self, _: RDKafkaLogLevel, facility: &str, line: &str) {
        eprintln!("{facility} {line}");
    }
}

impl ProducerContext for Deliveries {
    /// The record's id.
    type DeliveryOpaque = Box<String>;

    fn delivery(&self, result: &DeliveryResult<'_>, id: Box<String>) {
        match result {
            Ok(one) => self.work.acknowledged(&id, one.topic(), one.partition(), one.offset()),
            Err((error, _)) if error.rdkafka_error_code() == Some(RDKafkaErrorCode::PurgeQueue) => (),
            Err((error, _)) => self.failed.lock().unwrap().push(error.clone()),
        }
    }
}

/// The value of a record.
pub fn text(one: &impl Message) -> String {
    String::from_utf8_lossy(one.payload().unwrap_or_default()).into_owned()
}

/// What a client of that id is configured with first.
pub fn settings(work: &Work, id: &str) -> ClientConfig {
    let mut settings = ClientConfig::new();
    settings.set("bootstrap.servers", &work.bootstrap).set("client.id", id);
    if !work.broker.is_empty() {
        // one that does not say which versions it knows
        settings.set("api.version.request", "false").set("broker.version.fallback", &work.broker);
    }
    settings
}

fn producer(work: &Arc<Work>, own: &[(&str, &str)]) -> Result<Sender, Problem> {
    let mut settings = settings(work, "producer");
    for (name, value) in &work.settings {
        if name != "compression.type" || CODECS.contains(&value.as_str()) {
            settings.set(name, value);
        }
    }
    for (name, value) in own {
        settings.set(*name, *value);
    }
    Ok(settings.create_with_context(Deliveries { work: work.clone(), failed: Mutex::default() })?)
}

/// A producer whose transactions can begin.
pub fn transactional(work: &Arc<Work>) -> Result<Sender, Problem> {
    let one = producer(work, &[("transactional.id", &work.group)])?;
    again(work, || one.init_transactions(work.patience))?;
    Ok(one)
}

/// Hand a record to it.
pub fn send(work: &Work, producer: &Sender, one: &Planned, transaction: Option<&str>) -> Done {
    work.sent(&one.id, transaction, &one.topic);
    let mut record = BaseRecord::with_opaque_to(&one.topic, Box::new(one.id.clone()));
    record.key = one.key.as_ref();
    record.payload = one.value.as_ref();
    record.partition = one.partition;
    record.timestamp = one.timestamp;
    if !one.headers.is_empty() {
        let add = |all: OwnedHeaders, (key, value): &(String, String)| all.insert(Header { key, value: Some(value) });
        record.headers = Some(one.headers.iter().fold(OwnedHeaders::new(), add));
    }
    producer.send(record).map_err(|(error, _)| error)?;
    producer.poll(Duration::ZERO);
    Ok(())
}

/// Send records.
pub fn produce(work: &Arc<Work>) -> Done {
    send_all(work, work.rounds_of(0, 1), &[])
}

/// The same, each written once.
pub fn idempotent(work: &Arc<Work>) -> Done {
    send_all(work, work.rounds_of(0, 1), &[("enable.idempotence", "true")])
}

/// Those that it has without other libraries.
const CODECS: [&str; 3] = ["none", "snappy", "lz4"];

/// The same with each compression, by a producer of its own.
pub fn compressed(work: &Arc<Work>) -> Done {
    let codecs: Vec<&str> = CODECS.into_iter().filter(|one| work.codecs.iter().any(|known| known == one)).collect();
    for (at, codec) in codecs.iter().enumerate() {
        send_all(work, work.rounds_of(at, codecs.len()), &[("compression.type", codec)])?;
    }
    Ok(())
}

fn send_all<'a>(work: &Arc<Work>, rounds: impl Iterator<Item = &'a Vec<Vec<Planned>>>, own: &[(&str, &str)]) -> Done {
    let producer = producer(work, own)?;
    for sends in rounds {
        hand(work, &producer, sends, None)?;
        settle(work, &producer)?;
    }
    Ok(())
}

/// Hand the records of a round to it.
fn hand(work: &Work, producer: &Sender, sends: &[Vec<Planned>], transaction: Option<&str>) -> Done {
    for records in sends {
        for one in records {
            send(work, producer, one, transaction)?;
        }
        thread::sleep(work.pause);
    }
    Ok(())
}

/// Wait until all records are acknowledged.
fn settle(work: &Work, producer: &Sender) -> Done {
    let flushed = producer.flush(work.patience);
    if let Some(error) = producer.context().failed.lock().unwrap().first() {
        return Err(error.clone().into());
    }
    match producer.in_flight_count() {
        0 => Ok(flushed?),
        left => Err(Problem::GaveUp(format!("{left} records are neither acknowledged nor failed"))),
    }
}

/// Send records in transactions, each third aborted; one that can be is tried again.
pub fn transact(work: &Arc<Work>) -> Done {
    let producer = transactional(work)?;
    'next: for (number, sends) in work.rounds.iter().enumerate() {
        for attempt in 0..ATTEMPTS {
            let name = format!("{number}.{attempt}");
            let fill = || {
                hand(work, &producer, sends, Some(&name))?;
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

/// Have `fill` do what is to be in a transaction; it says whether to commit it. False: it had to be aborted, and may be tried again.
pub fn transaction(work: &Work, producer: &Sender, name: &str, fill: impl Fn() -> Result<bool, Problem>) -> Result<bool, Problem> {
    let end = || {
        if fill()? {
            again(work, || producer.commit_transaction(work.patience))?;
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
        Err(Problem::Kafka(KafkaError::MessageProduction(_))) => true, // none is taken in a transaction that has failed
        _ => false,
    };
    if failed {
        abort(work, producer, name)?;
        return Ok(false);
    }
    ended
}

fn abort(work: &Work, producer: &Sender, name: &str) -> Done {
    again(work, || producer.abort_transaction(work.patience))?;
    work.ended(name, "aborted");
    Ok(())
}

/// Until it succeeds, or fails with what librdkafka calls no use to repeat.
pub fn again(work: &Work, run: impl Fn() -> KafkaResult<()>) -> KafkaResult<()> {
    let until = Instant::now() + work.patience;
    loop {
        match run() {
            Err(KafkaError::Transaction(error)) if error.is_retriable() && Instant::now() < until => (),
            ended => return ended,
        }
    }
}
