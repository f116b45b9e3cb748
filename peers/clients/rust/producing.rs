//! Workloads of rdkafka: those that write.

use crate::work::{Done, Problem, Work, ATTEMPTS, AT_ONCE};
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use rdkafka::message::Message;
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
    type DeliveryOpaque = ();

    fn delivery(&self, result: &DeliveryResult<'_>, _: ()) {
        match result {
            Ok(one) => self.work.acknowledged(&text(one), one.topic(), one.partition(), one.offset()),
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

fn producer(work: &Arc<Work>, mut settings: ClientConfig, own: &[(&str, &str)]) -> Result<Sender, Problem> {
    for (name, value) in own {
        settings.set(*name, *value);
    }
    Ok(settings.create_with_context(Deliveries { work: work.clone(), failed: Mutex::default() })?)
}

/// A producer whose transactions can begin.
pub fn transactional(work: &Arc<Work>) -> Result<Sender, Problem> {
    let one = producer(work, settings(work, "producer"), &[("transactional.id", &work.group)])?;
    again(work, || one.init_transactions(work.patience))?;
    Ok(one)
}

/// Hand a record to it.
pub fn send(work: &Work, producer: &Sender, id: &str, transaction: Option<&str>, topic: &str) -> Done {
    work.sent(id, transaction, topic);
    producer.send(BaseRecord::to(topic).key(id).payload(id)).map_err(|(error, _)| error)?;
    producer.poll(Duration::ZERO);
    Ok(())
}

/// Send records, one after the other.
pub fn produce(work: &Arc<Work>) -> Done {
    send_all(work, &work.ids, &[])
}

/// The same, each written once.
pub fn idempotent(work: &Arc<Work>) -> Done {
    send_all(work, &work.ids, &[("enable.idempotence", "true")])
}

/// Those that it has without other libraries.
const CODECS: [&str; 3] = ["none", "snappy", "lz4"];

/// The same with each compression, by a producer of its own.
pub fn compressed(work: &Arc<Work>) -> Done {
    let codecs: Vec<&str> = CODECS.into_iter().filter(|one| work.codecs.iter().any(|known| known == one)).collect();
    for (at, codec) in codecs.iter().enumerate() {
        let ids: Vec<String> = work.ids.iter().skip(at).step_by(codecs.len()).cloned().collect();
        send_all(work, &ids, &[("compression.type", codec)])?;
    }
    Ok(())
}

fn send_all(work: &Arc<Work>, ids: &[String], own: &[(&str, &str)]) -> Done {
    let producer = producer(work, settings(work, "producer"), own)?;
    for id in ids {
        send(work, &producer, id, None, &work.topic)?;
        thread::sleep(work.pause);
    }
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
    'next: for (number, batch) in work.ids.chunks(AT_ONCE).enumerate() {
        for attempt in 0..ATTEMPTS {
            let name = format!("{number}.{attempt}");
            let fill = || {
                for id in batch {
                    send(work, &producer, id, Some(&name), &work.topic)?;
                }
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
