//! Sessions of the fuzzer; programs/lines.py describes them. Errors are values here: they are reported as returned.

use rdkafka::admin::{AdminClient, AdminOptions, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::error::{KafkaError, KafkaResult};
use rdkafka::message::{Headers, Message, OwnedMessage};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde_json::{json, Value};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::administering::block_on;

/// The records in the bench's topic: a session that has read them is finished.
const RECORDS: usize = 14;
/// The longest that a session reads: the bench usually ends it earlier.
const READING: Duration = Duration::from_millis(1500);
/// For another call.
const WAITING: Duration = Duration::from_millis(700);
const POLLING: Duration = Duration::from_millis(20);
/// Records and errors of a session to report.
const KEPT: usize = 64;
/// Bytes of a key or a value to report; of longer ones there is only the size.
const SHORT: usize = 64;

const GROUP: &[(&str, &str)] = &[
    ("group.id", "bench-group"),
    ("auto.offset.reset", "earliest"),
    ("enable.auto.commit", "false"),
    ("fetch.wait.max.ms", "20"),
    ("fetch.error.backoff.ms", "5"),
];
const CLASSIC: &[(&str, &str)] = &[("session.timeout.ms", "700"), ("heartbeat.interval.ms", "100")];

pub struct Session {
    number: i64,
    bootstrap: String,
    topic: String,
    /// Set when the session is to end.
    pub over: Arc<AtomicBool>,
}

/// What a session reports at its end.
#[derive(Default)]
struct Report {
    records: usize,
    delivered: Vec<Value>,
    failed: Vec<String>,
}

impl Report {
    /// Keep the error of a call, if there is one.
    fn check<T>(&mut self, result: KafkaResult<T>) -> Option<T> {
        match result {
            Ok(value) => return Some(value),
            Err(error) if self.failed.len() < KEPT => self.failed.push(name(&error)),
            Err(_) => (),
        }
        None
    }

    fn deliver(&mut self, message: &OwnedMessage) {
        self.records += 1;
        if self.delivered.len() < KEPT {
            let headers: Vec<Value> =
                message.headers().into_iter().flat_map(|all| all.iter()).map(|each| json!([each.key, text(each.value)])).collect();
            let time = message.timestamp().to_millis().unwrap_or(-1);
            let position = (message.partition(), message.offset());
            self.delivered.push(json!([position.0, position.1, time, text(message.key()), text(message.payload()), headers]));
        }
    }
}

fn name(error: &KafkaError) -> String {
    error.rdkafka_error_code().map_or_else(|| error.to_string(), |code| format!("{code:?}"))
}

fn text(data: Option<&[u8]>) -> Option<String> {
    let data = data?;
    Some(if data.len() > SHORT { format!("{} bytes", data.len()) } else { data.iter().map(|byte| format!("{byte:02x}")).collect() })
}

impl Session {
    pub fn new(task: &Value) -> Session {
        let field = |name: &str| task[name].as_str().unwrap_or_default().to_string();
        let number = task["number"].as_i64().unwrap_or(-1);
        Session { number, bootstrap: field("bootstrap"), topic: field("topic"), over: Arc::default() }
    }

    /// Run a session, and return its report; a session that the library does not have reports nothing.
    pub fn run(&self, name: &str) -> Value {
        let mut report = Report::default();
        let ended = match name {
            "consume" => self.consume(&mut report, &[]),
            "read-committed" => self.consume(&mut report, &[("isolation.level", "read_committed")]),
            "sasl" => self.consume(
                &mut report,
                &[
                    ("security.protocol", "sasl_plaintext"),
                    ("sasl.mechanisms", "PLAIN"),
                    ("sasl.username", "barnabas"),
                    ("sasl.password", "secret"),
                ],
            ),
            "group" => self.group(&mut report, CLASSIC),
            "cooperative" => {
                let strategy = ("partition.assignment.strategy", "cooperative-sticky");
                self.group(&mut report, &[CLASSIC, &[strategy]].concat())
            }
            "consumer-protocol" => self.group(&mut report, &[("group.protocol", "consumer")]),
            "produce" => self.produce(&mut report, &[]),
            "telemetry" => self.produce(&mut report, &[("enable.metrics.push", "true")]),
            "transaction" => self.transaction(&mut report),
            "admin" => self.admin(&mut report),
            _ => Ok(()),
        };
        report.check(ended);
        let Report { records, delivered, failed } = report;
        json!({"number": self.number, "records": records, "raised": null, "delivered": delivered, "failed": failed})
    }

    fn continues(&self) -> bool {
        !self.over.load(SeqCst)
    }

    fn settings(&self, more: &[&[(&str, &str)]]) -> ClientConfig {
        let common = [
            ("bootstrap.servers", self.bootstrap.as_str()),
            ("client.id", "barnabas"),
            ("reconnect.backoff.ms", "1"),
            ("reconnect.backoff.max.ms", "5"),
            ("retry.backoff.ms", "5"),
            ("socket.timeout.ms", "700"),
            ("socket.connection.setup.timeout.ms", "1000"),
            ("topic.metadata.refresh.fast.interval.ms", "10"),
            ("log_level", "0"),
            ("enable.metrics.push", "false"),
        ];
        let mut settings = ClientConfig::new();
        for (name, value) in common.iter().chain(more.iter().copied().flatten()) {
            settings.set(*name, *value);
        }
        settings
    }

    /// Poll until all records have arrived or the session is over; then take what is available at once.
    fn read(&self, report: &mut Report, consumer: &BaseConsumer) {
        let until = Instant::now() + READING;
        while report.records < RECORDS {
            let last = !self.continues() || Instant::now() > until;
            match consumer.poll(if last { Duration::ZERO } else { POLLING }) {
                Some(Ok(message)) => report.deliver(&message.detach()),
                Some(Err(error)) => drop(report.check::<()>(Err(error))),
                None if last => break,
                None => (),
            }
        }
    }

    /// Read both partitions without joining a group.
    fn consume(&self, report: &mut Report, settings: &[(&str, &str)]) -> KafkaResult<()> {
        let uncommitted = [("isolation.level", "read_uncommitted")];
        let consumer: BaseConsumer = self.settings(&[GROUP, &uncommitted, settings]).create()?;
        let mut partitions = TopicPartitionList::new();
        for partition in 0..2 {
            partitions.add_partition_offset(&self.topic, partition, Offset::Offset(0))?; // one Fetch for both
        }
        consumer.assign(&partitions)?;
        self.read(report, &consumer);
        if self.continues() {
            report.check(consumer.fetch_watermarks(&self.topic, 0, WAITING));
        }
        if self.continues() {
            report.check(consumer.offsets_for_timestamp(0, WAITING));
        }
        Ok(())
    }

    /// Join a group, read, commit, fetch the committed offset, leave.
    fn group(&self, report: &mut Report, settings: &[(&str, &str)]) -> KafkaResult<()> {
        let consumer: BaseConsumer = self.settings(&[GROUP, settings]).create()?;
        consumer.subscribe(&[&self.topic])?;
        self.read(report, &consumer);
        if report.records > 0 && self.continues() {
            report.check(consumer.commit_consumer_state(CommitMode::Sync));
        }
        if self.continues() {
            report.check(consumer.committed(WAITING));
        }
        Ok(())
    }

    /// Send three records and wait for their acknowledgement.
    fn produce(&self, report: &mut Report, settings: &[(&str, &str)]) -> KafkaResult<()> {
        let producer: BaseProducer = self.settings(&[&[("message.timeout.ms", "700"), ("linger.ms", "0")], settings]).create()?;
        for partition in [0, 1, 0] {
            producer.send(BaseRecord::<(), str>::to(&self.topic).partition(partition).payload("value")).map_err(|(error, _)| error)?;
        }
        report.check(producer.flush(WAITING));
        Ok(())
    }

    /// Send a record and a group's offsets in a transaction, and commit it.
    fn transaction(&self, report: &mut Report) -> KafkaResult<()> {
        let settings = [("transactional.id", "bench-txn"), ("transaction.timeout.ms", "1000"), ("message.timeout.ms", "700")];
        let producer: BaseProducer = self.settings(&[&settings]).create()?;
        producer.init_transactions(WAITING)?;
        producer.begin_transaction()?;
        producer.send(BaseRecord::<(), str>::to(&self.topic).partition(0).payload("value")).map_err(|(error, _)| error)?;
        if self.continues() {
            let consumer: BaseConsumer = self.settings(&[GROUP]).create()?;
            let mut partitions = TopicPartitionList::new();
            partitions.add_partition_offset(&self.topic, 0, Offset::Offset(3))?;
            if let Some(group) = consumer.group_metadata() {
                report.check(producer.send_offsets_to_transaction(&partitions, &group, WAITING));
            }
        }
        producer.commit_transaction(WAITING)
    }

    /// Make an administrator's calls.
    fn admin(&self, report: &mut Report) -> KafkaResult<()> {
        let client: AdminClient<DefaultClientContext> = self.settings(&[]).create()?;
        let options = AdminOptions::new().request_timeout(Some(WAITING));
        report.check(client.inner().fetch_metadata(None, WAITING));
        report.check(client.inner().fetch_group_list(None, WAITING));
        let resources = [ResourceSpecifier::Topic(&self.topic)];
        report.check(block_on(client.describe_configs(&resources, &options)));
        report.check(block_on(client.create_topics(&[NewTopic::new("other", 1, TopicReplication::Fixed(1))], &options)));
        report.check(block_on(client.create_partitions(&[NewPartitions::new(&self.topic, 3)], &options)));
        let mut partitions = TopicPartitionList::new();
        partitions.add_partition_offset(&self.topic, 0, Offset::Offset(1))?;
        report.check(block_on(client.delete_records(&partitions, &options)));
        report.check(block_on(client.delete_groups(&["bench-group"], &options)));
        report.check(block_on(client.delete_topics(&["other"], &options)));
        Ok(())
    }
}
