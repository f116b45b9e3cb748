//! The workload of rdkafka's administrator.

use crate::producing::settings;
use crate::work::{Done, Problem, Work, ROUNDS};
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, NewPartitions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Make topics, change them, and delete them, each seen before the next step.
pub fn admin(work: &Arc<Work>) -> Done {
    let client: AdminClient<DefaultClientContext> = settings(work, "admin").create()?;
    let options = AdminOptions::new().request_timeout(Some(work.patience));
    let partitions = |topic: &str| -> Result<usize, Problem> {
        let found = client.inner().fetch_metadata(None, work.patience)?;
        let known = found.topics().iter().find(|one| one.name() == topic && one.error().is_none());
        Ok(known.map_or(0, |one| one.partitions().len()))
    };
    for number in 0..ROUNDS {
        let topic = format!("{}-admin-{number}", work.topic);
        let about = ResourceSpecifier::Topic(&topic);
        let kept = || -> Result<bool, Problem> {
            let found = done(wait(client.describe_configs(&[about], &options)))?;
            let value = found[0].get("retention.ms").and_then(|entry| entry.value.clone());
            Ok(value.as_deref() == Some("3600000"))
        };
        named(wait(client.create_topics(&[NewTopic::new(&topic, 2, TopicReplication::Fixed(1))], &options)))?;
        work.shown(&format!("{topic} with 2 partitions"), || Ok(partitions(&topic)? == 2))?;
        named(wait(client.create_partitions(&[NewPartitions::new(&topic, 3)], &options)))?;
        work.shown(&format!("{topic} with 3 partitions"), || Ok(partitions(&topic)? == 3))?;
        let change = AlterConfig::new(about).set("retention.ms", "3600000");
        wait(client.alter_configs(&[change], &options))?
            .into_iter()
            .try_for_each(|one| one.map(drop).map_err(|(_, code)| KafkaError::AdminOp(code)))?;
        work.shown(&format!("retention.ms of {topic}"), kept)?;
        named(wait(client.delete_topics(&[&topic], &options)))?;
        work.shown(&format!("{topic} gone"), || Ok(partitions(&topic)? == 0))?;
    }
    Ok(())
}

fn named(answers: KafkaResult<Vec<Result<String, (String, RDKafkaErrorCode)>>>) -> KafkaResult<()> {
    answers?.into_iter().try_for_each(|one| one.map(drop).map_err(|(_, code)| KafkaError::AdminOp(code)))
}

fn done<T>(answers: KafkaResult<Vec<Result<T, RDKafkaErrorCode>>>) -> KafkaResult<Vec<T>> {
    answers?.into_iter().map(|one| one.map_err(KafkaError::AdminOp)).collect()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// What a future comes to: its request has a timeout of its own.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(found) => return found,
            Poll::Pending => thread::park(),
        }
    }
}
