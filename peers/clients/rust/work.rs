//! Parameters and reports of a workload, as in programs/work.py.

use crate::members::Member;
use rdkafka::error::KafkaError;
use serde_json::{json, Value};
use std::fmt;
use std::io::Write;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

pub type Done = Result<(), Problem>;

/// An error that ends a workload.
pub enum Problem {
    Kafka(KafkaError),
    /// A timeout passed without a result from the client.
    GaveUp(String),
    /// The library does not support the workload.
    NotOffered,
}

impl Problem {
    pub fn class(&self) -> &str {
        match self {
            Problem::Kafka(_) => "rdkafka::error::KafkaError",
            Problem::GaveUp(_) => "GaveUpError",
            Problem::NotOffered => "NotOfferedError",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Kafka(error) => error.fmt(f),
            Problem::GaveUp(reason) => f.write_str(reason),
            Problem::NotOffered => f.write_str("this library does not offer it"),
        }
    }
}

impl From<KafkaError> for Problem {
    fn from(error: KafkaError) -> Problem {
        Problem::Kafka(error)
    }
}

/// Print a line of the program.
pub fn print_line(line: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("stdout is closed");
}

/// Records that are read before their offsets are committed.
pub const AT_ONCE: usize = 5;
/// Attempts at a transaction.
pub const ATTEMPTS: usize = 5;
/// Characters of an error in an event.
const MESSAGE_CHARACTERS: usize = 200;
/// Topics that an administrator makes, changes and deletes.
pub const ADMIN_TOPICS: usize = 5;

pub struct Work {
    pub bootstrap: String,
    pub topic: String,
    /// All topics to read; the first is `topic`.
    pub topics: Vec<String>,
    pub group: String,
    /// The topic to which read-process-write copies.
    pub output: String,
    /// Of each topic.
    pub partitions: i32,
    pub ids: Vec<String>,
    /// Compressions that the brokers know, as compression.type has them.
    pub codecs: Vec<String>,
    /// The brokers' version, for clients that must be configured with it; else empty.
    pub broker: String,
    pub patience: Duration,
    /// Between two sends.
    pub pause: Duration,
    /// Of a producer, by Kafka's names.
    pub settings: Vec<(String, String)>,
    /// Sends that are awaited together, or are a transaction, in order; each has records that are handed over at once.
    pub rounds: Vec<Vec<Vec<PlannedRecord>>>,
    /// How a producer ends its last round: await, flush or close.
    pub ending: String,
    /// Of the group.
    pub members: Vec<Member>,
    leaves: Instant,
    /// The error of the last poll that failed, if no record came later; clients continue after it.
    pub poll_error: Mutex<Option<KafkaError>>,
}

impl Work {
    /// None: the line has no work.
    pub fn new(task: &Value) -> Option<Work> {
        let (topic, work) = (task["topic"].as_str()?.to_string(), &task["work"]);
        let seconds = |name: &str| Some(Duration::from_secs_f64(work[name].as_f64()?));
        Some(Work {
            bootstrap: task["bootstrap"].as_str()?.to_string(),
            group: format!("{topic}-group"),
            output: format!("{topic}-out"),
            partitions: work["partitions"].as_i64()? as i32,
            ids: (0..work["records"].as_u64()?).map(|number| format!("{topic}-{number}")).collect(),
            topics: list(&work["topics"]).map(plain).collect(),
            codecs: list(&work["codecs"]).map(plain).collect(),
            broker: work["broker"].as_str().unwrap_or_default().to_string(),
            patience: seconds("patience")?,
            pause: seconds("pause")?,
            settings: work["settings"].as_object()?.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
            rounds: list(&work["rounds"])
                .map(|sends| list(sends).map(|records| list(records).map(|record| PlannedRecord::new(record, &topic)).collect()).collect())
                .collect(),
            ending: work["ending"].as_str().unwrap_or("await").to_string(),
            members: Member::all(&work["members"]),
            leaves: Instant::now() + seconds("stay")?,
            poll_error: Mutex::default(),
            topic,
        })
    }

    /// Whether a consumer stays in its group after it has read all records.
    pub fn stays(&self) -> bool {
        Instant::now() < self.leaves
    }

    /// Report that a record is handed to a producer, within whose records order is promised.
    pub fn sent(&self, id: &str, topic: &str, producer: &str, transaction: Option<&str>) {
        let mut line = json!({"event": "sent", "id": id, "topic": topic, "producer": producer});
        if let Some(name) = transaction {
            line["transaction"] = json!(name);
        }
        print_line(&line);
    }

    /// Report an acknowledged record; a negative offset is none.
    pub fn acknowledged(&self, id: &str, topic: &str, partition: i32, offset: i64) {
        let mut line = json!({"event": "acknowledged", "id": id, "topic": topic, "partition": partition});
        if offset >= 0 {
            line["offset"] = json!(offset);
        }
        print_line(&line);
    }

    /// Report an error of a record, which may be written nevertheless.
    pub fn error(&self, id: &str, topic: &str, error: &KafkaError) {
        let message: String = error.to_string().chars().take(MESSAGE_CHARACTERS).collect();
        print_line(&json!({"event": "error", "id": id, "topic": topic, "message": message}));
    }

    pub fn ended(&self, transaction: &str, outcome: &str) {
        print_line(&json!({"event": "transaction", "transaction": transaction, "outcome": outcome}));
    }

    pub fn committed(&self, topic: &str, partition: i32, offset: i64) {
        let group = &self.group;
        print_line(&json!({"event": "offset_committed", "group": group, "topic": topic, "partition": partition, "offset": offset}));
    }

    /// Wait until a change is visible.
    pub fn wait_until_visible(&self, change: &str, visible: impl Fn() -> Result<bool, Problem>) -> Done {
        let until = Instant::now() + self.patience;
        while !visible()? {
            if Instant::now() > until {
                return Err(Problem::GaveUp(format!("{change} is not to be seen")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

/// The items of an array; none if the value is not an array.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a string or a number.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A record to send, as experiments/clients/draws.py plans it.
#[derive(Clone)]
pub struct PlannedRecord {
    /// The value up to the padding, or the key if there is no value.
    pub id: String,
    pub topic: String,
    pub key: Option<String>,
    pub value: Option<String>,
    pub partition: Option<i32>,
    pub headers: Vec<(String, String)>,
    /// ms
    pub timestamp: Option<i64>,
}

impl PlannedRecord {
    fn new(record: &Value, topic: &str) -> PlannedRecord {
        let id = record["id"].as_str().unwrap_or_default().to_string();
        let value = match record["size"].as_u64() {
            None => id.clone(),
            Some(0) => String::new(),
            Some(size) => format!("{id}|{}", "x".repeat(size as usize - id.len() - 1)),
        };
        PlannedRecord {
            topic: record["topic"].as_str().unwrap_or(topic).to_string(),
            key: record["key"].as_str().map(str::to_string),
            value: if record["null"].as_bool() == Some(true) { None } else { Some(value) },
            partition: record["partition"].as_i64().map(|number| number as i32),
            headers: list(&record["headers"]).map(|pair| (plain(&pair[0]), plain(&pair[1]))).collect(),
            timestamp: record["timestamp"].as_i64(),
            id,
        }
    }

    /// A copy of a record with that value.
    pub fn copy(id: &str, topic: &str) -> PlannedRecord {
        let text = Some(id.to_string());
        let (key, value) = (text.clone(), text);
        PlannedRecord { id: id.to_string(), topic: topic.to_string(), key, value, partition: None, headers: Vec::new(), timestamp: None }
    }
}

/// A consumer's reports of its partitions and records.
pub struct Reader {
    /// The consumer's name, which is also its client id.
    pub name: String,
}

impl Reader {
    pub fn new(work: &Work, name: &str, in_group: bool, isolation: &str) -> Reader {
        let mut line = json!({"event": "consumer", "consumer": name, "isolation": isolation, "reset": "earliest"});
        if in_group {
            line["group"] = json!(work.group);
        }
        print_line(&line);
        Reader { name: name.to_string() }
    }

    /// Report a partition that was assigned, or in which the consumer has sought.
    pub fn assigned(&self, topic: &str, partition: i32) {
        print_line(&json!({"event": "assigned", "consumer": self.name, "topic": topic, "partition": partition}));
    }

    pub fn consumed(&self, topic: &str, partition: i32, offset: i64, id: &str) {
        let name = &self.name;
        print_line(&json!({"event": "consumed", "consumer": name, "id": id, "topic": topic, "partition": partition, "offset": offset}));
    }
}
