//! What every workload is given: what is wanted of it, and who is told what happens, as programs/work.py has it.

use rdkafka::error::KafkaError;
use serde_json::{json, Value};
use std::collections::HashSet;
use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

pub type Done = Result<(), Problem>;

/// What leaves a workload.
pub enum Problem {
    Kafka(KafkaError),
    /// It waited longer than it is told to.
    GaveUp(String),
    /// The library can't do what is asked for.
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
            Problem::GaveUp(what) => f.write_str(what),
            Problem::NotOffered => f.write_str("this library does not offer it"),
        }
    }
}

impl From<KafkaError> for Problem {
    fn from(error: KafkaError) -> Problem {
        Problem::Kafka(error)
    }
}

/// A line of the program.
pub fn say(line: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).expect("nobody listens");
}

/// Records that are read before their offsets are committed.
pub const AT_ONCE: usize = 5;
/// At a transaction.
pub const ATTEMPTS: usize = 5;
/// Topics that an administrator makes, changes and deletes.
pub const ROUNDS: usize = 5;

pub struct Work {
    pub bootstrap: String,
    pub topic: String,
    pub group: String,
    /// The topic to which read-process-write copies.
    pub output: String,
    /// Of both topics.
    pub partitions: i32,
    pub ids: Vec<String>,
    /// Compressions that the brokers know, as compression.type has them.
    pub codecs: Vec<String>,
    /// The brokers' version, where clients have to be told; else empty.
    pub broker: String,
    pub patience: Duration,
    /// Between two sends.
    pub pause: Duration,
    /// Of a producer, by Kafka's names.
    pub settings: Vec<(String, String)>,
    /// Sends that are awaited together, or are a transaction, in order; each has records that are handed over at once.
    pub rounds: Vec<Vec<Vec<Planned>>>,
    leaves: Instant,
}

impl Work {
    /// None: the line has no work.
    pub fn new(asked: &Value) -> Option<Work> {
        let (topic, work) = (asked["topic"].as_str()?.to_string(), &asked["work"]);
        let seconds = |name: &str| Some(Duration::from_secs_f64(work[name].as_f64()?));
        Some(Work {
            bootstrap: asked["bootstrap"].as_str()?.to_string(),
            group: format!("{topic}-group"),
            output: format!("{topic}-out"),
            partitions: work["partitions"].as_i64()? as i32,
            ids: (0..work["records"].as_u64()?).map(|number| format!("{topic}-{number}")).collect(),
            codecs: work["codecs"].as_array().into_iter().flatten().filter_map(|one| Some(one.as_str()?.to_string())).collect(),
            broker: work["broker"].as_str().unwrap_or_default().to_string(),
            patience: seconds("patience")?,
            pause: seconds("pause")?,
            settings: work["settings"].as_object()?.iter().map(|(name, value)| (name.clone(), plain(value))).collect(),
            rounds: list(&work["rounds"]).map(|sends| list(sends).map(|records| list(records).map(|one| Planned::new(one, &topic)).collect()).collect()).collect(),
            leaves: Instant::now() + seconds("stay")?,
            topic,
        })
    }

    /// The rounds of each of so many producers.
    pub fn rounds_of(&self, number: usize, count: usize) -> impl Iterator<Item = &Vec<Vec<Planned>>> {
        self.rounds.iter().skip(number).step_by(count)
    }

    pub fn sent(&self, id: &str, transaction: Option<&str>, topic: &str) {
        let mut line = json!({"event": "sent", "id": id, "topic": topic});
        if let Some(name) = transaction {
            line["transaction"] = json!(name);
        }
        say(&line);
    }

    /// A negative offset is none.
    pub fn acknowledged(&self, id: &str, topic: &str, partition: i32, offset: i64) {
        let mut line = json!({"event": "acknowledged", "id": id, "topic": topic, "partition": partition});
        if offset >= 0 {
            line["offset"] = json!(offset);
        }
        say(&line);
    }

    pub fn ended(&self, transaction: &str, outcome: &str) {
        say(&json!({"event": "transaction", "transaction": transaction, "outcome": outcome}));
    }

    pub fn committed(&self, topic: &str, partition: i32, offset: i64) {
        let group = &self.group;
        say(&json!({"event": "offset_committed", "group": group, "topic": topic, "partition": partition, "offset": offset}));
    }

    /// Look until it is so: what was changed is seen a little later.
    pub fn shown(&self, what: &str, look: impl Fn() -> Result<bool, Problem>) -> Done {
        let until = Instant::now() + self.patience;
        while !look()? {
            if Instant::now() > until {
                return Err(Problem::GaveUp(format!("{what} is not to be seen")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of a string or a number.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// A record to send, as experiments/clients/draws.py plans it.
#[derive(Clone)]
pub struct Planned {
    /// Its value up to the padding, or its key if it has no value.
    pub id: String,
    pub topic: String,
    pub key: Option<String>,
    pub value: Option<String>,
    pub partition: Option<i32>,
    pub headers: Vec<(String, String)>,
    /// ms
    pub timestamp: Option<i64>,
}

impl Planned {
    fn new(one: &Value, topic: &str) -> Planned {
        let id = one["id"].as_str().unwrap_or_default().to_string();
        let value = match one["size"].as_u64() {
            None => id.clone(),
            Some(0) => String::new(),
            Some(size) => format!("{id}|{}", "x".repeat(size as usize - id.len() - 1)),
        };
        Planned {
            topic: one["topic"].as_str().unwrap_or(topic).to_string(),
            key: one["key"].as_str().map(str::to_string),
            value: if one["null"].as_bool() == Some(true) { None } else { Some(value) },
            partition: one["partition"].as_i64().map(|number| number as i32),
            headers: list(&one["headers"]).map(|pair| (plain(&pair[0]), plain(&pair[1]))).collect(),
            timestamp: one["timestamp"].as_i64(),
            id,
        }
    }

    /// A copy of a record with that value.
    pub fn copy(id: &str, topic: &str) -> Planned {
        let text = Some(id.to_string());
        let (key, value) = (text.clone(), text);
        Planned { id: id.to_string(), topic: topic.to_string(), key, value, partition: None, headers: Vec::new(), timestamp: None }
    }
}

/// A consumer that tells what it is given.
#[derive(Clone)]
pub struct Reader {
    /// Its client id, too.
    pub name: String,
}

impl Reader {
    pub fn new(work: &Work, name: &str, in_group: bool, isolation: &str) -> Reader {
        let mut line = json!({"event": "consumer", "consumer": name, "isolation": isolation, "reset": "earliest"});
        if in_group {
            line["group"] = json!(work.group);
        }
        say(&line);
        Reader { name: name.to_string() }
    }

    /// A partition that it was assigned, or in which it has sought.
    pub fn got(&self, topic: &str, partition: i32) {
        say(&json!({"event": "assigned", "consumer": self.name, "topic": topic, "partition": partition}));
    }

    pub fn consumed(&self, topic: &str, partition: i32, offset: i64, id: &str) {
        let name = &self.name;
        say(&json!({"event": "consumed", "consumer": name, "id": id, "topic": topic, "partition": partition, "offset": offset}));
    }
}

/// The records that no consumer was given yet, or that are not copied yet. stays: whether consumers go on for a while when they have all.
pub struct Missing {
    work: Arc<Work>,
    stays: bool,
    until: Instant,
    ids: Mutex<HashSet<String>>,
    ended: AtomicBool,
}

impl Missing {
    pub fn new(work: &Arc<Work>, stays: bool) -> Missing {
        let ids = Mutex::new(work.ids.iter().cloned().collect());
        Missing { work: work.clone(), stays, until: Instant::now() + work.patience, ids, ended: AtomicBool::new(false) }
    }

    pub fn found(&self, id: &str) {
        self.ids.lock().unwrap().remove(id);
    }

    fn left(&self) -> usize {
        self.ids.lock().unwrap().len()
    }

    /// Whether a consumer is to poll once more.
    pub fn goes_on(&self) -> Result<bool, Problem> {
        let left = self.left();
        if left > 0 && Instant::now() > self.until {
            return Err(Problem::GaveUp(format!("{left} records were not delivered")));
        }
        let stays = self.stays && Instant::now() < self.work.leaves;
        Ok(!self.ended.load(SeqCst) && (left > 0 || stays))
    }

    /// Have two members read, named so: the second joins once the first was given a record.
    pub fn by_two(&self, read: impl Fn(&str) -> Done + Sync) -> Done {
        let until_the_end = |name: &str| {
            let done = read(name);
            self.ended.store(true, SeqCst);
            done
        };
        thread::scope(|threads| {
            let second = threads.spawn(|| {
                while !self.ended.load(SeqCst) && self.left() == self.work.ids.len() {
                    thread::sleep(Duration::from_millis(50));
                }
                until_the_end("reader-2")
            });
            until_the_end("reader-1").and(second.join().unwrap())
        })
    }
}
