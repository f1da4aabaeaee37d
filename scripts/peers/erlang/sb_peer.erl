%% The peers' work in Erlang: processes and messages, as the language has them.
%%
%% erl ... -run sb_peer main WORK WORKERS N; run.sh starts it.
%%
%% Prints one line, "ns_per_op VALUE" (mem_idle: "bytes VALUE", wake_sleep: "p50 NS
%% p99 NS p99.9 NS"). Exit status: 0, 1 a wrong answer, 3 usage, 77 a kind of work
%% that the system cannot do. A message that is lost is a wrong answer, after a
%% minute.
%%
%% Timed work runs twice: the first time, unmeasured, has the allocators get their
%% memory from the system. Long-lived processes are made before the clock starts.
%% All messages are small integers or atoms, which need no memory of their own.
%% OTP has a module of the name peer.
-module(sb_peer).
-export([main/1]).
-export([ping/2, pong/1, relay/3, consumer/2, producer/3]).
-export([yielder/2, spawner/3, task/3, node/3, idle/1]).
-export([outside_begin/3, outside_woken/0, outside_end/0]).
-nifs([outside_begin/3, outside_woken/0, outside_end/0]).

-define(CHILDREN, 10). % of an inner node of skynet
-define(PRODUCERS, 64). % of the fan-in
-define(RING, 503). % processes
-define(PAUSE_NS, 200000). % between two wakes
-define(LIMIT_MS, 60000). % for an answer

main([Work, Workers, N]) ->
	{_, Run} = spawn_monitor(fun() -> exit(outcome(Work, Workers, N)) end),
	receive
		{'DOWN', Run, process, _, {ok, Line}} ->
			io:format("~s~n", [Line]),
			halt(0);
		{'DOWN', Run, process, _, {Status, Format, Values}} ->
			fail(Status, Work ++ ": " ++ Format, Values);
		{'DOWN', Run, process, _, Bug} ->
			fail(70, "~0p", [Bug])
	end;
main(_) ->
	fail(3, "usage: run.sh WORK WORKERS N", []).

fail(Status, Format, Values) ->
	io:format(standard_error, "erlang: " ++ Format ++ "~n", Values),
	halt(Status).

outcome(Work, Workers, N) ->
	try
		Count = at_least_one("N", N),
		Schedulers = erlang:system_info(schedulers_online),
		expect("schedulers", Schedulers, at_least_one("WORKERS", Workers)),
		{ok, run(Work, Count)}
	catch
		throw:Failure -> Failure
	end.

run("pingpong", N) -> ns_per_op(fun() -> pairs(1, N) end);
run("pairs1000", N) -> ns_per_op(fun() -> pairs(1000, N) end);
run("ring_1tok", N) -> ns_per_op(fun() -> ring(1, N) end);
run("ring_503tok", N) -> ns_per_op(fun() -> ring(?RING, N) end);
run("fanin64", N) -> ns_per_op(fun() -> fan_in(N) end);
run("yield", N) -> ns_per_op(fun() -> yield(N) end);
run("spawn_in", N) -> ns_per_op(fun() -> spawn_in(N) end);
run("skynet", N) -> ns_per_op(fun() -> skynet(N) end);
run("mem_idle", N) -> mem_idle(N);
run("wake_sleep", N) -> wake_sleep(N);
run("spawn_out", _) -> throw({77, "only a process can spawn one", []});
run(_, _) -> throw({3, "an unknown kind of work", []}).

ns_per_op(Work) ->
	Work(),
	{Operations, Ns} = Work(),
	io_lib:format("ns_per_op ~.2f", [Ns / Operations]).

now_ns() -> erlang:monotonic_time(nanosecond).

%% The next message of the mailbox of the process that checks.
await() ->
	receive
		Message -> Message
	after ?LIMIT_MS ->
		throw({1, "wrong answer: none within ~b ms", [?LIMIT_MS]})
	end.

expect(_, Expected, Expected) ->
	ok;
expect(What, Got, Expected) ->
	throw({1, "wrong answer: ~s: got ~0p, expected ~0p", [What, Got, Expected]}).

%% A share of N that is to be at least 1.
share(N, Parts) when N >= Parts -> N div Parts;
share(_, Parts) -> throw({3, "N: expected at least ~b", [Parts]}).

at_least_one(Name, Text) ->
	case string:to_integer(Text) of
		{Value, ""} when Value >= 1 -> Value;
		_ -> throw({3, "~s: expected a number from 1, not '~s'", [Name, Text]})
	end.

%% pingpong, pairs1000: N messages shared out among the pairs, each with one in
%% flight. A message is the number of those that the pair has exchanged.
pairs(Count, N) ->
	Messages = 2 * share(N, 2 * Count),
	Pings = [spawn(?MODULE, ping, [self(), Messages]) || _ <- lists:seq(1, Count)],
	[expect("made", await(), made) || _ <- Pings],
	Begin = now_ns(),
	[Ping ! start || Ping <- Pings],
	[expect("messages of a pair", await(), Messages) || _ <- Pings],
	{Count * Messages, now_ns() - Begin}.

ping(Main, Messages) ->
	Pong = spawn(?MODULE, pong, [self()]),
	Main ! made,
	receive
		start -> ping(Main, Pong, 0, Messages)
	end.

ping(Main, Pong, Exchanged, Messages) when Exchanged < Messages ->
	Pong ! Exchanged + 1,
	receive
		Answer -> ping(Main, Pong, Answer, Messages)
	end;
ping(Main, Pong, Exchanged, _) ->
	Pong ! stop,
	Main ! Exchanged.

pong(Ping) ->
	receive
		Exchanged when is_integer(Exchanged) ->
			Ping ! Exchanged + 1,
			pong(Ping);
		stop ->
			ok
	end.

%% ring_1tok, ring_503tok: N messages shared out among the tokens, which begin at
%% the processes 0, 1, ... A token is the number of messages that it has still to
%% make.
ring(Tokens, N) ->
	Hops = share(N, Tokens),
	Relays = relays(),
	Ends = [(I + Hops - 1) rem ?RING || I <- lists:seq(0, Tokens - 1)],
	Begin = now_ns(),
	[Relay ! Hops - 1 || Relay <- lists:sublist(Relays, Tokens)],
	Ended = [await() || _ <- Ends],
	Ns = now_ns() - Begin,
	[Relay ! stop || Relay <- Relays],
	expect("tokens that ended where none should", length(Ended -- Ends), 0),
	{Tokens * Hops, Ns}.

%% The first is told its neighbour last: it closes the ring.
relays() ->
	First = spawn(?MODULE, relay, [self(), 0, undefined]),
	Others = lists:foldl(fun(I, [Next | _] = Relays) ->
		[spawn(?MODULE, relay, [self(), I, Next]) | Relays]
	end, [First], lists:seq(?RING - 1, 1, -1)),
	[Second | _] = Others,
	First ! {next, Second},
	[First | lists:droplast(Others)].

relay(Main, Self, Next) ->
	receive
		Left when is_integer(Left), Left > 0 ->
			Next ! Left - 1,
			relay(Main, Self, Next);
		0 ->
			Main ! Self,
			relay(Main, Self, Next);
		{next, Second} ->
			relay(Main, Self, Second);
		stop ->
			ok
	end.

%% fanin64: the messages are numbered, so that the sum shows that each came once.
%% The consumer's messages are kept off its heap, as is advised for a process that
%% gets many: else its garbage collector copies them, and senders queue up.
fan_in(N) ->
	Share = share(N, ?PRODUCERS),
	Messages = ?PRODUCERS * Share,
	Consumer = spawn_opt(?MODULE, consumer, [self(), Messages], [{message_queue_data, off_heap}]),
	Producers = [spawn(?MODULE, producer, [Consumer, I * Share, (I + 1) * Share])
		|| I <- lists:seq(0, ?PRODUCERS - 1)],
	Begin = now_ns(),
	[Producer ! start || Producer <- Producers],
	Sum = await(),
	Ns = now_ns() - Begin,
	expect("sum of the messages", Sum, Messages * (Messages - 1) div 2),
	expect("messages too many", await(), 0),
	{Messages, Ns}.

producer(Consumer, First, End) ->
	receive
		start -> produce(Consumer, First, End)
	end.

produce(Consumer, Number, End) when Number < End ->
	Consumer ! Number,
	produce(Consumer, Number + 1, End);
produce(_, _, _) ->
	ok.

consumer(Main, Messages) ->
	Main ! consume(Messages, 0),
	{message_queue_len, TooMany} = process_info(self(), message_queue_len),
	Main ! TooMany.

consume(0, Sum) ->
	Sum;
consume(Messages, Sum) ->
	receive
		Number -> consume(Messages - 1, Sum + Number)
	end.

%% yield: checks with the emulator's own count.
yield(N) ->
	Yielder = spawn(?MODULE, yielder, [self(), N]),
	{Before, 0} = erlang:statistics(context_switches),
	Begin = now_ns(),
	Yielder ! start,
	expect("yielder", await(), done),
	Ns = now_ns() - Begin,
	{After, 0} = erlang:statistics(context_switches),
	expect("a context switch for each yield", After - Before >= N, true),
	{N, Ns}.

yielder(Main, N) ->
	receive
		start -> yield_times(N)
	end,
	Main ! done.

yield_times(0) ->
	ok;
yield_times(N) ->
	erlang:yield(),
	yield_times(N - 1).

%% spawn_in: the tasks count themselves; the last tells.
spawn_in(N) ->
	Ran = atomics:new(1, []),
	Begin = now_ns(),
	spawn(?MODULE, spawner, [self(), Ran, N]),
	Last = await(),
	Ns = now_ns() - Begin,
	expect("the last task's number", Last, N),
	expect("tasks that ran", atomics:get(Ran, 1), N),
	{N, Ns}.

spawner(Main, Ran, N) ->
	spawn_times([Main, Ran, N], N).

spawn_times(_, 0) ->
	ok;
spawn_times(Arguments, N) ->
	spawn(?MODULE, task, Arguments),
	spawn_times(Arguments, N - 1).

task(Main, Ran, N) ->
	case atomics:add_get(Ran, 1, 1) of
		N -> Main ! N;
		_ -> ok
	end.

%% skynet: a node adds up what its children send, and sends that to its parent.
skynet(Leaves) ->
	Nodes = nodes_of(Leaves),
	Begin = now_ns(),
	spawn(?MODULE, node, [self(), 0, Leaves]),
	Sum = await(),
	Ns = now_ns() - Begin,
	expect("sum of the leaves", Sum, Leaves * (Leaves - 1) div 2),
	{Nodes, Ns}.

nodes_of(1) -> 1;
nodes_of(Leaves) when Leaves rem ?CHILDREN =:= 0 -> Leaves + nodes_of(Leaves div ?CHILDREN);
nodes_of(_) -> throw({3, "N: expected a power of ten", []}).

node(Parent, First, 1) ->
	Parent ! First;
node(Parent, First, Leaves) ->
	spawn_children(First, Leaves div ?CHILDREN, ?CHILDREN),
	Parent ! sum(?CHILDREN, 0).

spawn_children(_, _, 0) ->
	ok;
spawn_children(First, Leaves, Missing) ->
	spawn(?MODULE, node, [self(), First, Leaves]),
	spawn_children(First + Leaves, Leaves, Missing - 1).

sum(0, Sum) ->
	Sum;
sum(Missing, Sum) ->
	receive
		Part -> sum(Missing - 1, Sum + Part)
	end.

%% mem_idle: N processes that wait for a message. Nothing refers to them while the
%% memory is read, so that nothing else counts; afterwards the emulator's own list
%% of processes finds them. The first thousand only show the emulator the way.
mem_idle(N) ->
	idle_bytes(1000),
	io_lib:format("bytes ~b", [round(idle_bytes(N) / N)]).

idle_bytes(N) ->
	Others = maps:from_keys(processes(), true),
	erlang:garbage_collect(),
	Before = resident_bytes(),
	spawn_idle(N),
	await_idle(),
	Bytes = resident_bytes() - Before,
	Pids = [Pid || Pid <- processes(), not is_map_key(Pid, Others)],
	expect("idle processes", length(Pids), N),
	lists:foldl(fun(Pid, Number) -> Pid ! Number, Number + 1 end, 0, Pids),
	Sum = lists:sum([await() || _ <- Pids]),
	expect("sum of the answers", Sum, N * (N - 1) div 2),
	Bytes.

spawn_idle(0) ->
	ok;
spawn_idle(N) ->
	spawn(?MODULE, idle, [self()]),
	spawn_idle(N - 1).

idle(Main) ->
	receive
		Number -> Main ! Number
	end.

await_idle() ->
	case erlang:statistics(total_run_queue_lengths) of
		0 -> ok;
		_ -> receive after 10 -> await_idle() end
	end.

resident_bytes() ->
	{ok, Status} = file:read_file("/proc/self/status"),
	{match, [Kilobytes]} = re:run(Status, "VmRSS:\\s*(\\d+) kB", [{capture, all_but_first, list}]),
	1024 * list_to_integer(Kilobytes).

%% wake_sleep: a thread that is none of the emulator's sleeps and sends to a process
%% that waits; see outside.c. It cannot spawn.
wake_sleep(N) ->
	Library = filename:join(filename:dirname(code:which(?MODULE)), "outside"),
	case erlang:load_nif(Library, 0) of
		ok -> ok;
		{error, {_, Why}} -> throw({77, "no thread outside of the emulator: ~s", [Why]})
	end,
	wakes(100),
	Sorted = lists:sort(wakes(N)),
	Rank = fun(Permille) -> lists:nth((N * Permille + 999) div 1000, Sorted) end,
	io_lib:format("p50 ~b p99 ~b p99.9 ~b", [Rank(500), Rank(990), Rank(999)]).

wakes(N) ->
	ok = outside_begin(self(), N, ?PAUSE_NS),
	expect("times woken", woken(0), N),
	{Answers, Latencies} = outside_end(),
	expect("answers", Answers, N),
	Latencies.

woken(Times) ->
	receive
		wake ->
			outside_woken(),
			woken(Times + 1);
		done ->
			Times
	end.

outside_begin(_Pid, _Wakes, _PauseNs) -> erlang:nif_error(not_loaded).
outside_woken() -> erlang:nif_error(not_loaded).
outside_end() -> erlang:nif_error(not_loaded).
