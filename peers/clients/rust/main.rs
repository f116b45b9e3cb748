//! The client program in Rust, as programs/lines.py says it: it runs workloads, and sessions of the fuzzer.

mod administering;
mod copying;
mod producing;
mod reading;
mod sessions;
mod work;

use serde_json::{json, Value};
use sessions::Session;
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
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
    let running: Arc<Mutex<HashMap<i64, Arc<AtomicBool>>>> = Arc::default();
    work::say(&json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let number = asked["number"].as_i64().unwrap_or(-1);
        if asked["over"].as_bool().unwrap_or(false) {
            if let Some(over) = running.lock().unwrap().get(&number) {
                over.store(true, SeqCst);
            }
            continue;
        }
        if asked["work"].is_null() {
            let session = Session::new(&asked);
            running.lock().unwrap().insert(number, session.over.clone());
            let running = running.clone();
            thread::spawn(move || {
                let ended = session.run(asked["run"].as_str().unwrap_or(""));
                running.lock().unwrap().remove(&number);
                work::say(&ended);
            });
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
