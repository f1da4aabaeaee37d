//! The peers' work in Tokio: tasks, and unbounded mpsc channels as mailboxes.
//!
//! usage: tokio WORK WORKERS N
//!
//! Prints one line, "ns_per_op VALUE" (mem_idle: "bytes VALUE", wake_sleep: "p50 NS
//! p99 NS p99.9 NS"). Exit status: 0, 1 a wrong answer, 3 usage.
//!
//! The runtime has WORKERS threads and no driver for timers or input and output,
//! which would make each yield a system call. The main thread is outside of it.
//! Timed work runs twice: the first time, unmeasured, grows the heap.

use std::fs;
use std::future::Future;
use std::pin::Pin;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};
use tokio::task::{yield_now, JoinError};

const PRODUCERS: u64 = 64; // of the fan-in
const CHILDREN: u64 = 10; // of an inner node of skynet

type Inbox = UnboundedReceiver<u64>;
type Outbox = UnboundedSender<u64>;

/// The exit status, and what is wrong.
struct Failure(i32, String);

impl From<JoinError> for Failure {
    fn from(error: JoinError) -> Self {
        wrong(format!("a task ended early: {error}"))
    }
}

fn wrong(what: String) -> Failure {
    Failure(1, format!("wrong answer: {what}"))
}

fn expect(what: &str, got: u64, expected: u64) -> Result<(), Failure> {
    if got == expected {
        Ok(())
    } else {
        Err(wrong(format!("{what}: got {got}, expected {expected}")))
    }
}

/// An equal part of N for each, or a usage error.
fn share(n: u64, count: u64) -> Result<u64, Failure> {
    if n < count {
        return Err(Failure(3, format!("N: expected at least {count}")));
    }
    Ok(n / count)
}

/// The sum of 0, 1, ... n - 1.
fn sum_below(n: u64) -> u64 {
    n * (n - 1) / 2
}

fn per_op(elapsed: Duration, operations: u64) -> String {
    let ns = elapsed.as_nanos() as f64 / operations as f64;
    format!("ns_per_op {ns:.2}")
}

/// Counts what has to happen n times and sums a number that each brings, in one
/// word, so that one atomic operation does both: the count in the low half, the
/// sum, modulo 2^32, in the high one. The last one unparks who made the tally.
struct Tally {
    word: AtomicU64,
    n: u64,
    maker: Thread,
}

impl Tally {
    /// For tasks, which outlive who spawns them; a process makes but a few.
    fn leak(n: u64) -> &'static Tally {
        let (word, maker) = (AtomicU64::new(0), thread::current());
        Box::leak(Box::new(Tally { word, n, maker }))
    }

    fn add(&self, number: u64) {
        let old = self.word.fetch_add(number << 32 | 1, Ordering::AcqRel);
        if u64::from(old as u32) + 1 == self.n {
            self.maker.unpark();
        }
    }

    fn wait(&self) {
        while u64::from(self.word.load(Ordering::Acquire) as u32) < self.n {
            thread::park();
        }
    }

    fn check(&self, what: &str, sum: u64) -> Result<(), Failure> {
        let found = self.word.load(Ordering::Acquire);
        expect(what, u64::from(found as u32), self.n)?;
        expect(
            &format!("sum (modulo 2^32) of {what}"),
            found >> 32,
            u64::from(sum as u32),
        )
    }
}

/// So many rings; a pair is a ring of two. Their members are numbered through, and
/// so are their tokens, which start at the first members of each ring.
#[derive(Clone, Copy)]
struct Rings {
    count: u64,
    members: u64,
    tokens: u64, // of each ring, like the members
}

const PINGPONG: Rings = Rings::new(1, 2, 1);
const PAIRS1000: Rings = Rings::new(1000, 2, 1);
const RING_1TOK: Rings = Rings::new(1, 503, 1);
const RING_503TOK: Rings = Rings::new(1, 503, 503);

impl Rings {
    const fn new(count: u64, members: u64, tokens: u64) -> Rings {
        Rings {
            count,
            members,
            tokens,
        }
    }

    fn next(&self, member: u64) -> u64 {
        member - member % self.members + (member + 1) % self.members
    }

    fn start(&self, token: u64) -> u64 {
        token / self.tokens * self.members + token % self.tokens
    }

    /// How often a token that makes so many hops comes to a member.
    fn visits(&self, token: u64, member: u64, hops: u64) -> u64 {
        let distance = (member + self.members - token) % self.members;
        hops / self.members + u64::from(distance < hops % self.members)
    }

    /// Each receipt of a token is a hop, the first included.
    fn check(&self, each: u64, received: &[u64]) -> Result<(), Failure> {
        for (i, got) in received.iter().enumerate() {
            let member = i as u64 % self.members;
            let expected = (0..self.tokens)
                .map(|token| self.visits(token, member, each))
                .sum();
            expect(&format!("messages to member {i}"), *got, expected)?;
        }
        Ok(())
    }
}

/// A member of a ring who gets this, in place of a token, ends.
const STOP: u64 = 0;

/// A message is the number of hops that are left, this included. Returns how many
/// it received.
async fn member(mut inbox: Inbox, next: Outbox, ended: UnboundedSender<()>) -> u64 {
    let mut hops = 0;
    while let Some(left) = inbox.recv().await {
        if left == STOP {
            break;
        }
        hops += 1;
        if left > 1 {
            next.send(left - 1).expect("the next member is there");
        } else {
            ended.send(()).expect("somebody waits for the tokens");
        }
    }
    hops
}

/// The round of the tokens, begun and awaited by a task of the runtime.
async fn go_round(shape: Rings, each: u64) -> Result<String, Failure> {
    let tokens = shape.count * shape.tokens;
    let (ended, mut ends) = unbounded_channel();
    let (boxes, inboxes): (Vec<Outbox>, Vec<Inbox>) = (0..shape.count * shape.members)
        .map(|_| unbounded_channel())
        .unzip();
    let mut members = Vec::new();
    for (i, inbox) in inboxes.into_iter().enumerate() {
        let next = boxes[shape.next(i as u64) as usize].clone();
        members.push(tokio::spawn(member(inbox, next, ended.clone())));
    }

    let begin = Instant::now();
    for token in 0..tokens {
        let first = &boxes[shape.start(token) as usize];
        first.send(each).expect("all members are there");
    }
    for _ in 0..tokens {
        ends.recv().await;
    }
    let elapsed = begin.elapsed();

    let mut received = Vec::new();
    for (outbox, member) in boxes.iter().zip(members) {
        outbox.send(STOP).expect("it waits for it");
        received.push(member.await?);
    }
    shape.check(each, &received)?;
    Ok(per_op(elapsed, tokens * each))
}

fn rings(runtime: &Runtime, n: u64, shape: Rings) -> Result<String, Failure> {
    let each = share(n, shape.count * shape.tokens)?;
    runtime.block_on(runtime.spawn(go_round(shape, each)))?
}

/// The messages are numbered, so that the sum shows that each came once.
async fn consume(each: u64) -> Result<String, Failure> {
    let messages = PRODUCERS * each;
    let (outbox, mut inbox) = unbounded_channel();
    let (mut received, mut sum) = (0, 0);

    let begin = Instant::now();
    for producer in 0..PRODUCERS {
        let outbox = outbox.clone();
        tokio::spawn(async move {
            for i in producer * each..(producer + 1) * each {
                outbox.send(i).expect("the consumer is there");
            }
        });
    }
    drop(outbox); // so that the last producer closes the channel
    while let Some(message) = inbox.recv().await {
        received += 1;
        sum += message;
    }
    let elapsed = begin.elapsed();

    expect("messages", received, messages)?;
    expect("sum of the messages", sum, sum_below(messages))?;
    Ok(per_op(elapsed, messages))
}

fn fanin(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let each = share(n, PRODUCERS)?;
    runtime.block_on(runtime.spawn(consume(each)))?
}

/// Counts how often the runtime has resumed a future.
struct Counted<F> {
    future: Pin<Box<F>>,
    polls: u64,
}

impl<F: Future> Future for Counted<F> {
    type Output = (F::Output, u64);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.polls += 1;
        let poll = self.future.as_mut().poll(context);
        poll.map(|output| (output, self.polls))
    }
}

fn yields(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let future = Box::pin(async move {
        let begin = Instant::now();
        for _ in 0..n {
            yield_now().await;
        }
        begin.elapsed()
    });
    let (elapsed, polls) = runtime.block_on(runtime.spawn(Counted { future, polls: 0 }))?;
    expect("resumptions", polls - 1, n)?;
    Ok(per_op(elapsed, n))
}

fn spawn_out(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let ran = Tally::leak(n);

    let begin = Instant::now();
    for i in 0..n {
        runtime.spawn(async move { ran.add(i) });
    }
    ran.wait();
    let elapsed = begin.elapsed();

    ran.check("tasks", sum_below(n))?;
    Ok(per_op(elapsed, n))
}

fn spawn_in(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let ran = Tally::leak(n);

    let begin = Instant::now();
    runtime.spawn(async move {
        for i in 0..n {
            tokio::spawn(async move { ran.add(i) });
        }
    });
    ran.wait();
    let elapsed = begin.elapsed();

    ran.check("tasks", sum_below(n))?;
    Ok(per_op(elapsed, n))
}

/// A node adds up what its children send it, and sends that to its parent.
fn node(parent: Outbox, first: u64, leaves: u64) {
    tokio::spawn(async move {
        let mut sum = first;
        if leaves > 1 {
            let (to_self, mut parts) = unbounded_channel();
            let each = leaves / CHILDREN;
            for i in 0..CHILDREN {
                node(to_self.clone(), first + i * each, each);
            }
            drop(to_self); // so that the last child closes the channel
            sum = 0;
            while let Some(part) = parts.recv().await {
                sum += part;
            }
        }
        parent.send(sum).expect("the parent is there");
    });
}

fn skynet(runtime: &Runtime, leaves: u64) -> Result<String, Failure> {
    let mut nodes = 0;
    let mut level = leaves;
    while level > 0 {
        if level % CHILDREN != 0 && level != 1 {
            return Err(Failure(3, "N: expected a power of ten".to_string()));
        }
        nodes += level;
        level /= CHILDREN;
    }

    let begin = Instant::now();
    let sum = runtime.block_on(async {
        let (outbox, mut inbox) = unbounded_channel();
        node(outbox, 0, leaves);
        inbox.recv().await
    });
    let elapsed = begin.elapsed();

    let sum = sum.ok_or_else(|| wrong("no sum of the leaves".to_string()))?;
    expect("sum of the leaves", sum, sum_below(leaves))?;
    Ok(per_op(elapsed, nodes))
}

fn resident_bytes() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.strip_suffix("kB"))
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| Failure(1, "/proc/self/status: no VmRSS".to_string()))
}

/// Tasks that wait for one message. The table of their mailboxes is written
/// before, so that it does not count.
fn mem_idle(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let waiting = Tally::leak(n);
    let answers = Tally::leak(n);
    let mut boxes: Vec<Option<Outbox>> = (0..n).map(|_| None).collect();

    let before = resident_bytes()?;
    for outbox in &mut boxes {
        let (to_task, mut inbox) = unbounded_channel();
        *outbox = Some(to_task);
        runtime.spawn(async move {
            waiting.add(0);
            if let Some(message) = inbox.recv().await {
                answers.add(message);
            }
        });
    }
    waiting.wait();
    let after = resident_bytes()?;

    for (i, outbox) in boxes.iter().flatten().enumerate() {
        let sent = outbox.send(i as u64);
        sent.map_err(|_| wrong("a task did not wait".to_string()))?;
    }
    answers.wait();
    answers.check("answers", sum_below(n))?;
    Ok(format!("bytes {}", (after - before) / n))
}

/// The 200 us between wake-ups are long enough that workers park.
fn wake_sleep(runtime: &Runtime, n: u64) -> Result<String, Failure> {
    let ran = Tally::leak(n);
    let latencies: &'static [AtomicU64] = Box::leak((0..n).map(|_| AtomicU64::new(0)).collect());

    for (i, latency) in latencies.iter().enumerate() {
        thread::sleep(Duration::from_micros(200));
        let begin = Instant::now();
        runtime.spawn(async move {
            let ns = begin.elapsed().as_nanos() as u64;
            latency.store(ns, Ordering::Relaxed);
            ran.add(i as u64);
        });
    }
    ran.wait();
    ran.check("tasks", sum_below(n))?;

    let mut sorted: Vec<u64> = latencies
        .iter()
        .map(|latency| latency.load(Ordering::Relaxed))
        .collect();
    sorted.sort_unstable();
    let rank = |permille| sorted[(sorted.len() * permille + 999) / 1000 - 1];
    let (p50, p99, p999) = (rank(500), rank(990), rank(999));
    Ok(format!("p50 {p50} p99 {p99} p99.9 {p999}"))
}

/// A name, how many operations to do before at most, and the work itself.
type Kind = (
    &'static str,
    u64,
    fn(&Runtime, u64) -> Result<String, Failure>,
);

const KINDS: [Kind; 11] = [
    ("pingpong", u64::MAX, |r, n| rings(r, n, PINGPONG)),
    ("pairs1000", u64::MAX, |r, n| rings(r, n, PAIRS1000)),
    ("ring_1tok", u64::MAX, |r, n| rings(r, n, RING_1TOK)),
    ("ring_503tok", u64::MAX, |r, n| rings(r, n, RING_503TOK)),
    ("fanin64", u64::MAX, fanin),
    ("yield", u64::MAX, yields),
    ("spawn_out", u64::MAX, spawn_out),
    ("spawn_in", u64::MAX, spawn_in),
    ("skynet", u64::MAX, skynet),
    ("mem_idle", 1, mem_idle),
    ("wake_sleep", 100, wake_sleep),
];

fn number(name: &str, text: &str, most: u64) -> Result<u64, Failure> {
    match text.parse() {
        Ok(value) if (1..=most).contains(&value) => Ok(value),
        _ => Err(Failure(
            3,
            format!("{name}: expected a number from 1 to {most}, not '{text}'"),
        )),
    }
}

fn run(arguments: &[String]) -> Result<String, Failure> {
    if arguments.len() != 4 {
        return Err(Failure(3, "expected WORK WORKERS N".to_string()));
    }
    let work = &arguments[1];
    let workers = number("WORKERS", &arguments[2], 1024)?;
    let n = number("N", &arguments[3], 1_000_000_000)?;
    let (_, warm_up, kind) = KINDS
        .iter()
        .find(|(name, _, _)| name == work)
        .ok_or_else(|| Failure(3, format!("WORK: unknown: '{work}'")))?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers as usize)
        .build()
        .map_err(|error| Failure(1, error.to_string()))?;

    kind(&runtime, n.min(*warm_up))?;
    kind(&runtime, n)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match run(&arguments) {
        Ok(line) => println!("{line}"),
        Err(Failure(status, text)) => {
            eprintln!("tokio: {text}");
            exit(status);
        }
    }
}
