//! What the client program in Rust does, as programs/lines.py says it. It runs workloads; the fuzzer's sessions it does not have.

mod administering;
mod copying;
mod producing;
mod reading;
mod work;

use serde_json::{json, Value};
use std::io::BufRead;
use std::sync::Arc;
use work::{Done, Problem, Work};

fn run(name: &str, work: &Arc<Work>) -> Done {
    match name {
        "produce" => producing::produce(work),
        "idempotent" => producing::idempotent(work),
        "compressed" => producing::compressed(work),
        "transact" => producing::transact(work),
        "assign" => reading::assign(work),
        "group" => reading::group(work),
        "cooperative" => reading::cooperative(work),
        "consumer-protocol" => reading::consumer_protocol(work),
        "read-process-write" => copying::read_process_write(work),
        "admin" => administering::admin(work),
        _ => Err(Problem::NotOffered),
    }
}

fn told(problem: &Problem) -> Value {
    let class = problem.class();
    json!({"class": class, "bases": [class], "message": problem.to_string(), "frames": [], "where": "call"})
}

fn main() {
    work::say(&json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if asked["over"].as_bool().unwrap_or(false) {
            continue;
        }
        let result = match Work::new(&asked) {
            Some(work) => run(asked["run"].as_str().unwrap_or(""), &Arc::new(work)),
            None => Err(Problem::NotOffered),
        };
        let raised = result.err().map(|problem| told(&problem));
        work::say(&json!({"number": asked["number"], "records": 0, "raised": raised}));
    }
}
