//! The client program in Rust: runs workloads and sessions of the fuzzer. programs/lines.py describes its lines.

mod administering;
mod copying;
mod members;
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
        "read-process-write" => copying::read_process_write(work),
        "admin" => administering::admin(work),
        _ => Err(Problem::NotOffered),
    }
}

fn describe(problem: &Problem) -> Value {
    let class = problem.class();
    json!({"class": class, "bases": [class], "message": problem.to_string(), "frames": [], "where": "call"})
}

fn main() {
    let running: Arc<Mutex<HashMap<i64, Arc<AtomicBool>>>> = Arc::default();
    work::print_line(&json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        let task: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let number = task["number"].as_i64().unwrap_or(-1);
        if task["over"].as_bool().unwrap_or(false) {
            if let Some(over) = running.lock().unwrap().get(&number) {
                over.store(true, SeqCst);
            }
            continue;
        }
        if task["work"].is_null() {
            let session = Session::new(&task);
            running.lock().unwrap().insert(number, session.over.clone());
            let running = running.clone();
            thread::spawn(move || {
                let ended = session.run(task["run"].as_str().unwrap_or(""));
                running.lock().unwrap().remove(&number);
                work::print_line(&ended);
            });
            continue;
        }
        let result = match Work::new(&task) {
            Some(work) => run(task["run"].as_str().unwrap_or(""), &Arc::new(work)),
            None => Err(Problem::NotOffered),
        };
        let raised = result.err().map(|problem| describe(&problem));
        work::print_line(&json!({"number": task["number"], "records": 0, "raised": raised}));
    }
}
