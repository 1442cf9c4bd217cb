// SPDX-License-Identifier: Apache-2.0
//
// Threads for what futures do: as many as there is to do, up to a number; who has nothing to do for a while ends. Nothing starts
// before the first future is polled.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub(crate) type Work = Box<dyn FnOnce() + Send>;

const IDLE: Duration = Duration::from_secs(10);

struct State {
    queue: VecDeque<Work>,
    threads: usize,
    waiting: usize,
}

static STATE: Mutex<State> = Mutex::new(State { queue: VecDeque::new(), threads: 0, waiting: 0 });
static MORE: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn threads_max() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).saturating_mul(4).max(16)
}

/// Does it on a thread, in its turn. `work` must not panic.
pub(crate) fn submit(work: Work) -> std::io::Result<()> {
    let mut state = lock();
    state.queue.push_back(work);
    if state.waiting >= state.queue.len() || state.threads >= threads_max() {
        drop(state);
        MORE.notify_one();
        return Ok(());
    }
    match std::thread::Builder::new().name("pigment".into()).spawn(run) {
        Ok(_) => state.threads += 1,
        Err(error) if state.threads == 0 => {
            state.queue.pop_back();
            return Err(error);
        }
        Err(_) => MORE.notify_one(), // those that there are will come to it
    }
    Ok(())
}

fn run() {
    let mut state = lock();
    loop {
        if let Some(work) = state.queue.pop_front() {
            drop(state);
            work();
            state = lock();
            continue;
        }
        state.waiting += 1;
        let (woken, timeout) = MORE.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
        state = woken;
        state.waiting -= 1;
        if timeout.timed_out() && state.queue.is_empty() {
            state.threads -= 1;
            return;
        }
    }
}
