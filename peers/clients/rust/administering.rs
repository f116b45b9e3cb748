//! The workload of rdkafka's administrator.

use crate::producing::settings;
use crate::work::{Done, Problem, Work, ADMIN_TOPICS};
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
        let metadata = client.inner().fetch_metadata(None, work.patience)?;
        let known = metadata.topics().iter().find(|each| each.name() == topic && each.error().is_none());
        Ok(known.map_or(0, |each| each.partitions().len()))
    };
    for number in 0..ADMIN_TOPICS {
        let topic = format!("{}-admin-{number}", work.topic);
        let resource = ResourceSpecifier::Topic(&topic);
        let is_changed = || -> Result<bool, Problem> {
            let configs = succeeded(block_on(client.describe_configs(&[resource], &options)))?;
            let value = configs[0].get("retention.ms").and_then(|entry| entry.value.clone());
            Ok(value.as_deref() == Some("3600000"))
        };
        all_succeeded(block_on(client.create_topics(&[NewTopic::new(&topic, 2, TopicReplication::Fixed(1))], &options)))?;
        work.wait_until_visible(&format!("{topic} with 2 partitions"), || Ok(partitions(&topic)? == 2))?;
        all_succeeded(block_on(client.create_partitions(&[NewPartitions::new(&topic, 3)], &options)))?;
        work.wait_until_visible(&format!("{topic} with 3 partitions"), || Ok(partitions(&topic)? == 3))?;
        let change = AlterConfig::new(resource).set("retention.ms", "3600000");
        block_on(client.alter_configs(&[change], &options))?
            .into_iter()
            .try_for_each(|result| result.map(drop).map_err(|(_, code)| KafkaError::AdminOp(code)))?;
        work.wait_until_visible(&format!("retention.ms of {topic}"), is_changed)?;
        all_succeeded(block_on(client.delete_topics(&[&topic], &options)))?;
        work.wait_until_visible(&format!("{topic} gone"), || Ok(partitions(&topic)? == 0))?;
    }
    Ok(())
}

fn all_succeeded(results: KafkaResult<Vec<Result<String, (String, RDKafkaErrorCode)>>>) -> KafkaResult<()> {
    results?.into_iter().try_for_each(|result| result.map(drop).map_err(|(_, code)| KafkaError::AdminOp(code)))
}

fn succeeded<T>(results: KafkaResult<Vec<Result<T, RDKafkaErrorCode>>>) -> KafkaResult<Vec<T>> {
    results?.into_iter().map(|result| result.map_err(KafkaError::AdminOp)).collect()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Wait for a future, and return its result. Its request has a timeout of its own.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}
