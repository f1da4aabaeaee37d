// The peers' work in Go: goroutines and channels, the standard library alone.
//
// usage: go WORK WORKERS N
//
// Prints one line, "ns_per_op VALUE" (mem_idle: "bytes VALUE", wake_sleep: "p50 NS
// p99 NS p99.9 NS"). Exit status: 0, 1 a wrong answer, 3 usage. A message that is
// lost ends as the runtime's "all goroutines are asleep", exit status 2.
//
// Timed work runs twice: the first time, unmeasured, grows the heap and the list
// of dead goroutines whose stacks the second one takes. Channels and long-lived
// goroutines are made before the clock starts. The garbage collector is on, as
// GOGC says.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	children  = 10  // of an inner node of skynet
	producers = 64  // of the fan-in
	ringSize  = 503 // goroutines
)

// Does about n operations. Returns how many, and how long they took.
type timedWork func(n int) (int, time.Duration, error)

var kinds = map[string]func(n int) (string, error){
	"pingpong":    nsPerOp(pairs(1)),
	"pairs1000":   nsPerOp(pairs(1000)),
	"ring_1tok":   nsPerOp(ring(1)),
	"ring_503tok": nsPerOp(ring(ringSize)),
	"fanin64":     nsPerOp(fanIn),
	"yield":       nsPerOp(yield),
	"spawn_out":   nsPerOp(spawnOut),
	"spawn_in":    nsPerOp(spawnIn),
	"skynet":      nsPerOp(skynet),
	"mem_idle":    memIdle,
	"wake_sleep":  wakeSleep,
}

// N is not one that the work can do: a usage error, not a wrong answer.
type badCount struct{ expected string }

func (bad badCount) Error() string { return "N: expected " + bad.expected }

func nsPerOp(work timedWork) func(n int) (string, error) {
	return func(n int) (string, error) {
		if _, _, err := work(n); err != nil {
			return "", err
		}
		ops, elapsed, err := work(n)
		if err != nil {
			return "", err
		}
		ns := float64(elapsed.Nanoseconds()) / float64(ops)
		return fmt.Sprintf("ns_per_op %.2f", ns), nil
	}
}

func expect(what string, got, expected int) error {
	if got != expected {
		return fmt.Errorf("%s: got %d, expected %d", what, got, expected)
	}
	return nil
}

// pairs shares n messages out among so many pairs, each with one in flight. A
// message is the number of those that the pair has exchanged.
func pairs(count int) timedWork {
	return func(n int) (int, time.Duration, error) {
		trips := n / (2 * count)
		if trips == 0 {
			return 0, 0, badCount{fmt.Sprint("at least ", 2*count)}
		}
		start := make(chan struct{})
		exchanged := make(chan int, count)
		for i := 0; i < count; i++ {
			to, from := make(chan int), make(chan int)
			go ping(start, to, from, trips, exchanged)
			go pong(to, from)
		}
		sum := 0
		begin := time.Now()
		close(start)
		for i := 0; i < count; i++ {
			messages := <-exchanged
			if messages != 2*trips {
				return 0, 0, expect("messages of a pair", messages, 2*trips)
			}
			sum += messages
		}
		return sum, time.Since(begin), nil
	}
}

func ping(start <-chan struct{}, to chan<- int, from <-chan int, trips int, exchanged chan<- int) {
	<-start
	messages := 0
	for i := 0; i < trips; i++ {
		to <- messages + 1
		messages = <-from
	}
	close(to)
	exchanged <- messages
}

func pong(to <-chan int, from chan<- int) {
	for messages := range to {
		from <- messages + 1
	}
}

// ring shares n messages out among so many tokens, which begin at the goroutines
// 0, 1, ... A token is the number of messages that it has still to make. The
// channels hold all tokens, but one needs no place.
func ring(tokens int) timedWork {
	return func(n int) (int, time.Duration, error) {
		hops := n / tokens
		if hops == 0 {
			return 0, 0, badCount{fmt.Sprint("at least ", tokens)}
		}
		places := tokens
		if tokens == 1 {
			places = 0
		}
		var boxes [ringSize]chan int
		for i := range boxes {
			boxes[i] = make(chan int, places)
		}
		ended := make(chan int, tokens)
		for i := range boxes {
			go relay(i, boxes[i], boxes[(i+1)%ringSize], ended)
		}
		var ends [ringSize]int
		begin := time.Now()
		for i := 0; i < tokens; i++ {
			boxes[i] <- hops - 1
		}
		for i := 0; i < tokens; i++ {
			ends[<-ended]++
		}
		elapsed := time.Since(begin)
		for i := range boxes {
			close(boxes[i])
		}
		for i := 0; i < tokens; i++ {
			at := (i + hops - 1) % ringSize
			if ends[at] != 1 {
				return 0, 0, expect(fmt.Sprint("tokens that ended at goroutine ", at), ends[at], 1)
			}
		}
		return tokens * hops, elapsed, nil
	}
}

func relay(self int, in <-chan int, out chan<- int, ended chan<- int) {
	for left := range in {
		if left > 0 {
			out <- left - 1
		} else {
			ended <- self
		}
	}
}

// fanIn numbers the messages, so that the sum shows that each came once.
func fanIn(n int) (int, time.Duration, error) {
	share := n / producers
	if share == 0 {
		return 0, 0, badCount{fmt.Sprint("at least ", producers)}
	}
	messages := producers * share
	start := make(chan struct{})
	in := make(chan int, 1024)
	for i := 0; i < producers; i++ {
		go produce(start, in, i*share, share)
	}
	sum := 0
	begin := time.Now()
	close(start)
	for i := 0; i < messages; i++ {
		sum += <-in
	}
	elapsed := time.Since(begin)
	if err := expect("messages too many", len(in), 0); err != nil {
		return 0, 0, err
	}
	return messages, elapsed, expect("sum of the messages", sum, messages*(messages-1)/2)
}

func produce(start <-chan struct{}, out chan<- int, first, count int) {
	<-start
	for i := first; i < first+count; i++ {
		out <- i
	}
}

// yield checks with the runtime's own count: it notes one in eight of the times
// that a goroutine waits for its turn.
func yield(n int) (int, time.Duration, error) {
	noted := turnsNoted()
	begin := time.Now()
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
	elapsed := time.Since(begin)
	noted = turnsNoted() - noted
	if noted < n/8 {
		return 0, 0, fmt.Errorf("turns noted: got %d, expected at least %d", noted, n/8)
	}
	return n, elapsed, nil
}

func turnsNoted() int {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	sum := uint64(0)
	for _, count := range sample[0].Value.Float64Histogram().Counts {
		sum += count
	}
	return int(sum)
}

// Counts the tasks that have run; done is closed by the last.
type tally struct {
	ran  int64
	done chan struct{}
}

// spawn begins n goroutines, whose code is one closure: none is allocated.
func (tasks *tally) spawn(n int) {
	task := func() {
		if atomic.AddInt64(&tasks.ran, 1) == int64(n) {
			close(tasks.done)
		}
	}
	for i := 0; i < n; i++ {
		go task()
	}
}

func (tasks *tally) wait(n int, begin time.Time) (int, time.Duration, error) {
	<-tasks.done
	elapsed := time.Since(begin)
	return n, elapsed, expect("tasks that ran", int(atomic.LoadInt64(&tasks.ran)), n)
}

// spawnOut: Go has no thread outside of its scheduler; the nearest is a goroutine
// that has a thread of its own.
func spawnOut(n int) (int, time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tasks := &tally{done: make(chan struct{})}
	begin := time.Now()
	tasks.spawn(n)
	return tasks.wait(n, begin)
}

func spawnIn(n int) (int, time.Duration, error) {
	tasks := &tally{done: make(chan struct{})}
	begin := time.Now()
	go tasks.spawn(n)
	return tasks.wait(n, begin)
}

// skynet: a node's channel holds what all its children send, so none waits.
func skynet(leaves int) (int, time.Duration, error) {
	nodes := 0
	for level := leaves; level > 0; level /= children {
		if level%children != 0 && level != 1 {
			return 0, 0, badCount{"a power of ten"}
		}
		nodes += level
	}
	sums := make(chan int, 1)
	begin := time.Now()
	go node(sums, 0, leaves)
	sum := <-sums
	return nodes, time.Since(begin), expect("sum of the leaves", sum, leaves*(leaves-1)/2)
}

func node(parent chan<- int, first, leaves int) {
	if leaves == 1 {
		parent <- first
		return
	}
	sums := make(chan int, children)
	for i := 0; i < children; i++ {
		go node(sums, first+i*leaves/children, leaves/children)
	}
	sum := 0
	for i := 0; i < children; i++ {
		sum += <-sums
	}
	parent <- sum
}

// memIdle: n goroutines that wait for a message, each at a channel of its own.
// The table of the channels is written before, so that it does not count.
func memIdle(n int) (string, error) {
	var waiting, answered sync.WaitGroup
	var sum int64
	idle := func(box <-chan int) {
		waiting.Done()
		atomic.AddInt64(&sum, int64(<-box))
		answered.Done()
	}
	boxes := make([]chan int, n)
	for i := range boxes {
		boxes[i] = nil
	}
	waiting.Add(n)
	answered.Add(n)
	runtime.GC()
	before, err := residentBytes()
	if err != nil {
		return "", err
	}
	for i := range boxes {
		boxes[i] = make(chan int)
		go idle(boxes[i])
	}
	waiting.Wait()
	after, err := residentBytes()
	if err != nil {
		return "", err
	}
	for i := range boxes {
		boxes[i] <- i
	}
	answered.Wait()
	bytes := float64(after-before) / float64(n)
	return fmt.Sprintf("bytes %.0f", bytes), expect("sum of the answers", int(sum), n*(n-1)/2)
}

func residentBytes() (int, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	return pages * os.Getpagesize(), err
}

// wakeSleep: a goroutine with a thread of its own (see spawnOut) sleeps in a system
// call, where the scheduler does without it, and begins a goroutine.
func wakeSleep(n int) (string, error) {
	runtime.LockOSThread()
	var begin time.Time
	ran := 0
	woken := make(chan time.Duration)
	task := func() {
		latency := time.Since(begin)
		ran++
		woken <- latency
	}
	wake := func() time.Duration {
		sleep(200 * time.Microsecond)
		begin = time.Now()
		go task()
		return <-woken
	}
	for i := 0; i < 100; i++ {
		wake()
	}
	ran = 0
	latencies := make([]time.Duration, n)
	for i := range latencies {
		latencies[i] = wake()
	}
	sort.Slice(latencies, func(i, j int) bool { return latencies[i] < latencies[j] })
	rank := func(permille int) int64 {
		return latencies[(n*permille+999)/1000-1].Nanoseconds()
	}
	line := fmt.Sprintf("p50 %d p99 %d p99.9 %d", rank(500), rank(990), rank(999))
	return line, expect("tasks that ran", ran, n)
}

// A signal, which the runtime uses to take turns, does not end the sleep.
func sleep(pause time.Duration) {
	left := syscall.NsecToTimespec(pause.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

func fail(status int, format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, "go: "+format+"\n", values...)
	os.Exit(status)
}

func atLeastOne(name, text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		fail(3, "%s: expected a number from 1, not '%s'", name, text)
	}
	return value
}

func main() {
	if len(os.Args) != 4 {
		fail(3, "usage: go WORK WORKERS N")
	}
	work, known := kinds[os.Args[1]]
	if !known {
		fail(3, "WORK: unknown: '%s'", os.Args[1])
	}
	runtime.GOMAXPROCS(atLeastOne("WORKERS", os.Args[2]))
	line, err := work(atLeastOne("N", os.Args[3]))
	if _, usage := err.(badCount); usage {
		fail(3, "%s: %v", os.Args[1], err)
	}
	if err != nil {
		fail(1, "%s: wrong answer: %v", os.Args[1], err)
	}
	fmt.Println(line)
}
