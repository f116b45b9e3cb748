//! The members of a workload's group, and the records that they have yet to receive.

use crate::work::{list, plain, Done, Problem, Work};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A member of a group: when it joins, how it works, and when it leaves.
pub struct Member {
    /// The consumer's name in the history, and its client id.
    pub name: String,
    /// Of its producer's names; empty for the first member.
    pub suffix: String,
    /// It joins when the members together have received this many records.
    after: usize,
    /// It joins when the member of that name has left.
    follows: Option<String>,
    /// It leaves when it has received this many records itself.
    leaves: Option<usize>,
    /// For the records of each poll.
    delay: Duration,
    /// For the records of the first poll, in addition.
    stall: Duration,
    /// Whether it pauses its partitions after each third poll.
    pub pauses: bool,
    /// Whether it returns to the committed offsets after its third poll.
    pub rewinds: bool,
    /// Whether it commits the offset of one partition after a poll.
    pub partial: bool,
    /// A regular expression to subscribe to in place of the topics.
    pub pattern: Option<String>,
    /// Of the consumer, by Kafka's names.
    pub settings: Vec<(String, String)>,
}

impl Member {
    pub fn new(member: &Value, number: usize) -> Member {
        let name = plain(&member["name"]);
        let seconds = |key: &str| Duration::from_secs_f64(member[key].as_f64().unwrap_or(0.0));
        let flag = |key: &str| member[key].as_bool().unwrap_or(false);
        Member {
            suffix: if number == 0 { String::new() } else { format!("-{name}") },
            name,
            after: member["after"].as_u64().unwrap_or(0) as usize,
            follows: member["follows"].as_str().map(str::to_string),
            leaves: member["leaves"].as_u64().map(|count| count as usize),
            delay: seconds("delay"),
            stall: seconds("stall"),
            pauses: flag("pauses"),
            rewinds: flag("rewinds"),
            partial: flag("partial"),
            pattern: member["pattern"].as_str().map(str::to_string),
            settings: member["settings"].as_object().into_iter().flatten().map(|(name, value)| (name.clone(), plain(value))).collect(),
        }
    }

    pub fn all(members: &Value) -> Vec<Member> {
        list(members).enumerate().map(|(number, member)| Member::new(member, number)).collect()
    }

    /// Whether the member leaves, once it has received that many records.
    pub fn leaves_after(&self, received: usize) -> bool {
        self.leaves.is_some_and(|count| received >= count)
    }

    /// How long it works on the records of a poll; the first poll is number 1.
    pub fn working_time(&self, poll: usize) -> Duration {
        if poll == 1 { self.delay + self.stall } else { self.delay }
    }
}

/// The records that no consumer has received yet, or that are not copied yet.
pub struct PendingRecords {
    work: Arc<Work>,
    /// Whether consumers stay for a while after the last record.
    stays: bool,
    until: Instant,
    ids: Mutex<HashSet<String>>,
    /// Names of members that have left.
    departed: Mutex<HashSet<String>>,
    /// A member has failed.
    failed: AtomicBool,
}

impl PendingRecords {
    pub fn new(work: &Arc<Work>, stays: bool) -> PendingRecords {
        let ids = Mutex::new(work.ids.iter().cloned().collect());
        let (departed, failed) = (Mutex::default(), AtomicBool::new(false));
        PendingRecords { work: work.clone(), stays, until: Instant::now() + work.patience, ids, departed, failed }
    }

    /// Remove a received record.
    pub fn received(&self, id: &str) {
        self.ids.lock().unwrap().remove(id);
        *self.work.poll_error.lock().unwrap() = None;
    }

    fn count(&self) -> usize {
        self.ids.lock().unwrap().len()
    }

    /// Whether a consumer is to poll once more.
    pub fn unfinished(&self) -> Result<bool, Problem> {
        let count = self.count();
        if count > 0 && Instant::now() > self.until {
            let reported = self.work.poll_error.lock().unwrap().clone();
            return Err(reported.map_or_else(|| Problem::GaveUp(format!("{count} records were not delivered")), Problem::Kafka));
        }
        let stays = self.stays && self.work.stays();
        Ok(!self.failed.load(SeqCst) && (count > 0 || stays))
    }

    /// Run the members of the workload, each in a thread. An error of a member ends all members.
    pub fn run_members(&self, run: impl Fn(&Member) -> Done + Sync) -> Done {
        let run_member = |member: &Member| {
            let ended = self.wait_for_turn(member).and_then(|joins| if joins { run(member) } else { Ok(()) });
            if ended.is_err() {
                self.failed.store(true, SeqCst);
            }
            self.departed.lock().unwrap().insert(member.name.clone());
            ended
        };
        thread::scope(|threads| {
            let members: Vec<_> = self.work.members.iter().map(|member| threads.spawn(move || run_member(member))).collect();
            let ended: Vec<Done> = members.into_iter().map(|member| member.join().unwrap()).collect();
            ended.into_iter().collect()
        })
    }

    /// Wait until a member is to join. False: the workload is over before.
    fn wait_for_turn(&self, member: &Member) -> Result<bool, Problem> {
        while self.unfinished()? {
            if self.is_due(member) {
                return Ok(true);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(false)
    }

    fn is_due(&self, member: &Member) -> bool {
        let follows = member.follows.as_ref().is_none_or(|name| self.departed.lock().unwrap().contains(name));
        follows && self.work.ids.len() - self.count() >= member.after
    }
}
