"""The mistakes of tests/mutants.py and what must catch each."""
from mutants import Mutant

# Weaker orders. Those that no run on x86 can show are made in
# tests/test_orders.sh, one for each row of its table.
ORDERS = [
    Mutant("push does not release", "core/deque_counted.h",
           "sb_store_rel(&deque->pushes, deque->own_pushes); /* P1 -> T1 */",
           "sb_store_rlx(&deque->pushes, deque->own_pushes);",
           "tsan:test_core_deque"),
    Mutant("steal does not acquire the pushes", "core/deque_counted.h",
           "sb_load_acq(&deque->pushes); /* T1 <- P1 */",
           "sb_load_rlx(&deque->pushes);",
           "tsan:test_core_deque"),
    Mutant("push does not release", "core/deque_chase_lev.h",
           "sb_store_rel(&deque->bottom, bottom + 1); /* P1 -> T1 */",
           "sb_store_rlx(&deque->bottom, bottom + 1);",
           "tsan:test_core_deque"),
    Mutant("no fence in pop", "core/deque_chase_lev.h",
           "	sb_fence_store_load(&deque->top); /* F1 with F2 */\n", "",
           "plain:test_core_deque", "small:test_core_deque"),
    Mutant("a post does not release", "core/process.h",
           "} while (!sb_cas_weak_acq_rel(&process->word, &word,\n"
           "				      (uint64_t)(uintptr_t)node | flags));",
           "} while (!atomic_compare_exchange_weak_explicit(&process->word,"
           " &word, (uint64_t)(uintptr_t)node | flags, memory_order_relaxed,"
           " memory_order_relaxed));",
           "tsan:test_core_stress"),
    Mutant("a take does not acquire", "core/process.h",
           "		sb_xchg_acq_rel(&process->word, (uint64_t)SB_STATE_RUNNING);",
           "		atomic_exchange_explicit(&process->word,"
           " (uint64_t)SB_STATE_RUNNING, memory_order_relaxed);",
           "tsan:test_core_stress"),
    Mutant("the lock does not release", "core/platform.h",
           "	sb_store_rel(&lock->held, 0);\n}\n\n#endif",
           "	sb_store_rlx(&lock->held, 0);\n}\n\n#endif",
           "tsan:test_core_stress"),
    Mutant("returned objects are not acquired", "core/pool.c",
           "item = sb_xchg_acq(&pool->returned, NULL);",
           "item = atomic_exchange_explicit(&pool->returned, NULL,"
           " memory_order_relaxed);",
           "tsan:test_core_stress", "tsan:test_core_parts"),
]

# The deque.
DEQUE = [
    Mutant("pop takes the last item without a compare-and-swap",
           "core/deque_chase_lev.h",
           "!sb_cas_seq_cst(&deque->top, &top, top + 1)) /* C1 with C2 */",
           "(sb_store_rel(&deque->top, top + 1), false))",
           "small:test_core_deque"),
    Mutant("slots are reused without a look at the head",
           "core/deque_counted.h",
           "	if (SB_UNLIKELY(tail - deque->own_head > deque->own_ring->mask)) {",
           "	if (0) {",
           "small:test_core_deque"),
    Mutant("growth forgets the newest", "core/deque.c",
           "			     (uint64_t)deque->own_head + size);",
           "			     (uint64_t)deque->own_head + size - 1);",
           "small:test_core_deque"),
]

# The state word and the step.
WORD = [
    Mutant("letting go does not look at the flag", "core/process.h",
           "	return sb_cas_acq_rel(&process->word, &expected, (uint64_t)to);",
           "	(void)expected; sb_store_rel(&process->word, (uint64_t)to);"
           " return true;",
           "small:test_core_process"),
    Mutant("events are not turned round", "core/step.c",
           "	append_reversed(p, sb_word_take(p));\n	step->result",
           "	{ struct sb_event_node *e = sb_word_take(p);"
           " p->backlog_first = e; while (e && e->next) e = e->next;"
           " p->backlog_last = e; }\n	step->result",
           "small:test_core_stress", "small:test_core_process"),
    Mutant("an unknown command completes nothing", "core/step.c",
           "			     : -ENOSYS;", "			     : 0;",
           "small:test_core_process"),
    Mutant("what is left over the budget is forgotten", "core/step.c",
           "if (waits && !p->backlog_first && sb_word_release(p, to))",
           "if (waits && sb_word_release(p, to))",
           "small:test_core_process", "small:test_core_fairness"),
    Mutant("a terminated process is stepped", "core/step.c",
           "	if (SB_UNLIKELY(sb_load_rlx(&p->terminated)))\n"
           "		return -ECANCELED;\n", "",
           "small:test_core_terminate"),
]

# Work conservation and fairness.
CONSERVATION = [
    Mutant("no second look before sleeping", "core/worker.c",
           "	if (work_visible(s) || halted(s)) {\n		stay_awake(w);",
           "	if (halted(s)) {\n		stay_awake(w);",
           "small:test_core_fairness", "small:test_core_parts"),
    Mutant("the last searcher wakes nobody", "core/worker.c",
           "	if (work_visible(s))\n		sb_route_publish(s, w, w->id);",
           "	(void)work_visible;",
           "small:test_core_fairness"),
    Mutant("a push to the own deque wakes nobody", "core/route.c",
           "	sb_route_local(w, p, false);\n	sb_route_publish(s, w, w->id);",
           "	sb_route_local(w, p, false);\n	(void)s;",
           "small:test_core_fairness"),
    Mutant("inject queues are their owner's alone", "core/steal.c",
           "	if (!p)\n		p = steal_inject(w, victim);",
           "	(void)steal_inject;",
           "small:test_core_fairness"),
    Mutant("those that continue cannot be stolen", "core/steal.c",
           "	if (result == SB_STEAL_EMPTY)\n"
           "		result = steal_some(w, &victim->cold, items, &n, cell);\n",
           "", "small:test_core_turns"),
    Mutant("no tick", "core/worker.c",
           "	if (SB_UNLIKELY(--w->steps_to_tick == 0))",
           "	if (0)", "small:test_core_fairness"),
    Mutant("a tick without the global queue", "core/worker.c",
           "	case 0:\n		return take_global(w, 1);",
           "	case 0:\n		return NULL;", "small:test_core_fairness"),
    Mutant("a tick without the inject queue", "core/worker.c",
           "	case 1:\n		return take_inject(w, 1);",
           "	case 1:\n		return NULL;", "small:test_core_fairness"),
    Mutant("a tick without the oldest", "core/worker.c",
           "	default:\n		return take_oldest(w);",
           "	default:\n		return 0 ? take_oldest(w) : NULL;", "small:test_core_fairness"),
    Mutant("a tick without those that continue", "core/worker.c",
           "	case 2:\n		return take_cold(w);",
           "	case 2:\n		return NULL;", "small:test_core_fairness"),
    Mutant("continue goes before its siblings", "core/step.c",
           "	run_again(w, p, !waits || whole_batch);",
           "	run_again(w, p, waits && whole_batch);",
           "small:test_core_turns"),
    Mutant("a whole batch does not go behind", "core/step.c",
           "	run_again(w, p, !waits || whole_batch);",
           "	(void)whole_batch; run_again(w, p, !waits);",
           "small:test_core_turns"),
    Mutant("no time budget of a batch", "core/step.c",
           "	if (SB_UNLIKELY(timed))\n		adapt_batch(w, p, "
           "sb_clock_ns() - start);", "	(void)adapt_batch; (void)start;",
           "small:test_core_turns"),
    Mutant("no time budget of a tick", "core/worker.c",
           "	if (!config->tick_ns)\n		return;",
           "	if (config->tick)\n		return;",
           "small:test_core_turns"),
    Mutant("a batch moved to the own deque is not announced", "core/worker.c",
           "	if (p)\n		announce_rest(w);\n	return p;\n}\n\nstatic struct"
           " sb_process *next_process",
           "	return p;\n}\n\nstatic struct sb_process *next_process",
           "small:test_core_fairness"),
]

# Life and death.
LIFE = [
    Mutant("no second look at the phase", "core/submit.c",
           "	if (SB_UNLIKELY(refuses(s)))\n		(void)sb_cancel_process(s, w, p);",
           "	(void)sb_cancel_process;",
           "small:test_core_lifecycle", "small:test_core_stress"),
    Mutant("stop does not cancel", "core/scheduler.c",
           "	(void)sb_cancel_process(arg, NULL, p);", "	(void)arg; (void)p;",
           "small:test_core_lifecycle"),
    Mutant("the stamp of idleness comes after the count", "core/live.c",
           "	sb_store_rlx(&s->idle_since_ns, sb_clock_ns());\n	SB_WINDOW();\n"
           "	before = sb_sub_acq_rel(&s->live, n);",
           "	before = sb_sub_acq_rel(&s->live, n);\n	SB_WINDOW();\n"
           "	sb_store_rlx(&s->idle_since_ns, sb_clock_ns());",
           "small:test_core_lifecycle"),
    Mutant("a route survives a restart", "core/scheduler.c",
           "	w->epoch++; /* no route from before an earlier stop is valid */\n",
           "", "small:test_core_lifecycle"),
    Mutant("claims end with their process", "core/step.c",
           "	sb_pidmap_remove(s->pidmap, p);",
           "	sb_pidmap_remove(s->pidmap, p);\n"
           "	if (p->pid >= SB_PID_CHOSEN)\n"
           "		sb_pidmap_unclaim(s->pidmap, p->pid);",
           "small:test_core_submit"),
    Mutant("a place in a mailbox is taken by adding", "core/send.c",
           "	} while (!sb_cas_weak_acq_rel(&p->mailbox, &messages, "
           "messages + 1));\n	return true;",
           "	} while (0);\n	sb_add_rlx(&p->mailbox, 1);\n	return true;",
           "small:test_core_mailbox"),
    Mutant("a mailbox's place is not given back", "core/step.c",
           "			sb_sub_acq_rel(&p->mailbox, 1);", "			(void)bounded;",
           "small:test_core_mailbox"),
]

# Monitors, links, timers.
RELATIONS = [
    Mutant("the state is looked at before the relation is pushed",
           "core/relations.c",
           "	push(r, WATCHER);\n	push(r, WATCHED);\n	SB_WINDOW();\n"
           "	if (sb_word_state(sb_or_acq_rel(&other->word, 0)) != "
           "SB_STATE_COMPLETE)",
           "	const bool ended = sb_word_state(sb_load_acq(&other->word)) =="
           " SB_STATE_COMPLETE;\n	SB_WINDOW();\n"
           "	push(r, WATCHER);\n	push(r, WATCHED);\n	if (!ended)",
           "small:test_core_relations"),
    Mutant("a normal end terminates links", "core/relations.c",
           "} else if (r->kind == SB_RELATION_LINK && exit->error) {",
           "} else if (r->kind == SB_RELATION_LINK) {",
           "small:test_core_relations"),
    Mutant("a relation is changed under one lock", "core/relations.c",
           "	sb_lock_acquire(a < b ? a : b);\n	if (a != b)\n"
           "		sb_lock_acquire(a < b ? b : a);",
           "	(void)b;\n	sb_lock_acquire(a);\n	if (0)\n		return;",
           "small:test_core_relations"),
    Mutant("what was seen before the locks is taken out", "core/relations.c",
           "		taken = sb_load_rlx(&p->relations) == r;",
           "		taken = true;",
           "small:test_core_relations"),
]

TIMERS = [
    Mutant("the timekeeper is not told", "core/worker.c",
           "	if (untold & SB_UNTOLD_TIMER)\n		sb_timekeeper_tell(w);",
           "	(void)sb_timekeeper_tell;",
           "small:test_core_timers"),
    Mutant("the timekeeper does not hand over", "core/worker.c",
           "	if (p)\n		sb_timekeeper_replace(w);\n", "",
           "small:test_core_edges"),
    Mutant("an end leaves its timer", "core/step.c",
           "	sb_timers_end(s, p);\n", "",
           "small:test_core_edges"),
    Mutant("a search does not look at wheels", "core/worker.c",
           "		sb_timers_run_all(w);\n", "",
           "small:test_core_timers"),
    Mutant("nobody keeps the time", "core/worker.c",
           "		deadline = sb_timekeeper_begin(w);",
           "		deadline = UINT64_MAX;",
           "small:test_core_timers"),
    Mutant("a timer fires early", "core/wheel.c",
           "	return tick == last ? last : tick + (ns != tick << "
           "SB_WHEEL_TICK_BITS);",
           "	return tick == last ? last : tick;",
           "small:test_core_wheel"),
    Mutant("a slot is moved all at once", "core/wheel.c",
           "			sb_wheel_start(wheel, timer);\n			work--;",
           "			sb_wheel_start(wheel, timer);",
           "small:test_core_wheel"),
    Mutant("an old id stops a new timer", "core/timers.c",
           "	if (!timer || timer->pid != pid ||\n"
           "	    ((timer->generation ^ id) & GENERATION_MASK))",
           "	if (!timer || timer->pid != pid)",
           "small:test_core_timers"),
    Mutant("timers survive a stop", "core/scheduler.c",
           "		sb_timers_clear(&s->worker[i]->timers);\n", "",
           "small:test_core_timers"),
]

# Arenas and their pages; what several nodes show is in `make check-numa`.
MEMORY = [
    Mutant("a mapping is not bound", "core/pages.c",
           "	if (!policy->nodes)\n		return 0;",
           "	if (policy)\n		return 0;",
           "small:test_core_arena"),
    Mutant("a page that is only partly in the range is left out",
           "core/pages.c",
           "	const uintptr_t end = round_up((uintptr_t)start + bytes, page);",
           "	const uintptr_t end = ((uintptr_t)start + bytes) & ~(page - 1);",
           "small:test_core_arena"),
    Mutant("mappings are kept", "core/mem.c",
           "			sb_pages_unmap(&ledger->line[i]);\n",
           "			(void)ledger;\n",
           "plain:test_core_arena"),
    Mutant("the ledger forgets its earlier pages", "core/mem.c",
           "		ledger->previous = arena->ledger;\n",
           "		ledger->previous = NULL;\n",
           "plain:test_core_arena"),
    Mutant("all workers without a node share with the first", "core/memory.c",
           "		if (place[i].node == place[id].node)",
           "		if (place[i].node == place[id].node || place[id].node < 0)",
           "small:test_core_arena"),
    Mutant("interleaved memory is local", "core/memory.c",
           "		policy.nodes = s->placement.nodes;",
           "		policy.nodes = 0;",
           "small:test_core_arena"),
    Mutant("an unknown node is another one", "core/pool.c",
           "	if (node < 0 || node == mine->owner.node)",
           "	if (node == mine->owner.node)",
           "small:test_core_arena"),
    Mutant("a large object is never another's", "core/pool.c",
           "	if (large->owner != mine)\n",
           "	if (!large->owner)\n",
           "small:test_core_arena"),
    Mutant("blocks but the first are not freed", "core/pool.c",
           "		if (slab->is_block)\n			sb_mem_free(slab);",
           "		if (slab->is_block && !slab->next)\n"
           "			sb_mem_free(slab);",
           "asan:test_core_parts"),
]

CLOCK = [
    Mutant("the product of ticks is cut to 64 bits", "core/clock.h",
           "		(__uint128_t)(ticks - scale->ticks) * scale->mult;",
           "		(ticks - scale->ticks) * scale->mult;",
           "plain:test_core_clock"),
    Mutant("a check that fails is passed over", "core/clock.c",
           "		if (!checks[i].passes(trial))\n			return false;",
           "		(void)checks[i].passes(trial);",
           "plain:test_core_clock"),
    Mutant("the clock is switched while a scheduler runs", "core/clock.c",
           "	if (sb_load_acq(&holders))", "	if (0)",
           "plain:test_core_clock"),
    Mutant("the clock starts anew when it is switched", "core/clock.c",
           "start.before, start.ns))", "start.before, 0))",
           "plain:test_core_clock"),
    Mutant("a rate ignores how wide its brackets are", "core/clock_checks.c",
           "(b->before - a->after)", "(b->before - a->before)",
           "plain:test_core_clock"),
    Mutant("a counter that is ahead agrees", "core/clock_checks.h",
           "	return offset->low <= 0 && offset->high >= 0;",
           "	return offset->high >= 0;",
           "plain:test_core_clock"),
    Mutant("a wait ends when the kernel says so", "core/platform.c",
           "	pthread_cond_timedwait(cond, mutex, &until);\n	return true;",
           "	return !pthread_cond_timedwait(cond, mutex, &until);",
           "plain:test_core_clock"),
    Mutant("a deadline is one of the kernel's clock", "core/platform.c",
           "as_timespec(sb_clock_kernel_ns() + left)",
           "as_timespec(deadline_ns)",
           "plain:test_core_clock"),
    Mutant("what has passed may be negative", "core/clock.h",
           "	return now > then ? now - then : 0;", "	return now - then;",
           "plain:test_core_clock"),
]

MUTANTS = (ORDERS + DEQUE + WORD + CONSERVATION + LIFE + RELATIONS + TIMERS +
           MEMORY + CLOCK)
