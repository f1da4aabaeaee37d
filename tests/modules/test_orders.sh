#!/bin/sh
# Looks whether the functions whose memory orders matter became the arm64
# instructions that these orders call for. No test that runs on x86 can miss an
# order there, and emulated arm64 has the host's. Prints TAP.
#
# Each function is compiled with the single instructions of LSE (armv8.1-a) and
# with load-exclusive pairs (armv8-a). What is compared is the list of its
# ordered instructions, in the order of the source: barriers, acquiring loads,
# releasing stores, read-modify-writes, and, to show their places, calls.
# Nothing else may be in the list, so a row also forbids the barrier that a
# function does without, and an order that is stronger than it need be.
#
# Then each mistake in the second table is made in a copy, and must be seen.
# usage: test_orders.sh BUILD_DIRECTORY; CC: the compiler for arm64
set -u
compiler="${CC:-aarch64-linux-gnu-gcc} --sysroot=build/arm64/sysroot"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# unit, function, pattern (extended, of the whole list, with LSE).
orders() {
	cat <<-'END'
		tests/modules/orders.c   counted_push         ldar sb_counted_grow stlr
		tests/modules/orders.c   counted_pop          casal
		tests/modules/orders.c   counted_steal_half   ldar ldar casal
		tests/modules/orders.c   counted_size         ldar
		core/queue/deque.c     sb_counted_grow      sb_ring_grow stlr
		tests/modules/orders.c   chase_lev_push       ldar sb_chase_lev_grow stlr
		tests/modules/orders.c   chase_lev_pop        stlr dmb casal stlr
		tests/modules/orders.c   chase_lev_steal_one  ldar dmb ldar ldar casal
		tests/modules/orders.c   chase_lev_size       ldar
		core/queue/deque.c     sb_chase_lev_grow    sb_ring_grow stlr
		tests/modules/orders.c   word_post            casal
		tests/modules/orders.c   word_claim           casal
		tests/modules/orders.c   word_take            swpal
		tests/modules/orders.c   word_release         casal
		tests/modules/orders.c   word_requeue         casal
		tests/modules/orders.c   word_complete        swpal
		tests/modules/orders.c   lock_acquire         swpa sb_lock_contended
		tests/modules/orders.c   lock_release         stlr
		core/platform/platform.c  sb_lock_contended    sb_thread_yield sb_thread_sleep swpa
		core/platform/threads.c   sb_park              casal .*casal .*swpa
		core/platform/threads.c   sb_unpark            swpal syscall .*
		core/wake/idle.c      sb_idle_announce     ldsetal ldaddal casal
		core/wake/idle.c      sb_idle_retract      casal take_any_bit
		core/wake/idle.c      sb_idle_claim        casal take_any_bit
		core/wake/idle.c      take_bit             ldclral
		core/wake/idle.c      sb_idle_is_announced ldar
		core/wake/idle.c      sb_idle_search_begin casal
		core/wake/idle.c      sb_idle_search_end   ldaddal sb_check_failed casal
		core/wake/idle.c      sb_idle_look         ldar ldar casal
		core/wake/publish.c     sb_route_publish     dmb wake_if_wanted
		core/worker/spin.c    search_and_block     .*sb_idle_announce dmb work_visible .*sb_idle_search_end dmb work_visible .*
		core/process/submit.c    submit_own           ldar .*stlr sb_route_new ldar .*
		core/process/submit.c    submit_foreign       .*swpa sb_lock_contended ldar .*stlr sb_runq_append sb_route_append_wakes stlr sb_route_publish .*
		core/wake/publish.c    sb_route_append_wakes dmb .*
		core/process/live.c      give_back_unused     .*ldaddal .*
		core/process/live.c      is_none              ldar
		core/wake/publish.c     sb_route_new         .*sb_route_local dmb .*
		core/memory/pidmap.c    sb_pidmap_lookup     .*ldar .*ldar
		core/message/mailbox.c     sb_route_look_up     sb_pidmap_lookup
		core/memory/pidmap.c    sb_pidmap_remove     ldaddal .*
		core/timers/timekeeper.c    sb_timekeeper_begin  casal sb_timekeeper_tell dmb
		core/timers/timekeeper.c    sb_timekeeper_end    stlr
		core/timers/timekeeper.c    sb_timekeeper_tell   dmb ldar .*
		core/process/relations.c sb_relation_add      .*ldsetal .*
		core/queue/runq.c      sb_runq_push         swpa sb_lock_contended sb_runq_append stlr
		core/queue/runq.c      publish              stlr stlr
		core/queue/runq.c      sb_runq_take         ldar swpa sb_lock_contended ldar ldar .*stlr stlr
		core/queue/runq.c      sb_runq_append       has_linked swpa sb_mem_alloc stlr stlr link_last.*
		core/queue/runq.c      take_from_parts      .*casal.*
		core/memory/pool.c      sb_pool_receive              swpa
		core/memory/pool.c      sb_pool_free_slowly  .*casal.*
		core/memory/graves.c    return_grave         note_dead casal
		core/memory/graves.c    sb_worker_take_reclaimed swpa empty_grave sb_mem_free
	END
}

# function that must be found wrong, file, what sed does to it.
mistakes() {
	cat <<-'END'
		counted_push core/queue/deque_counted.h s/sb_store_rel(&deque->pushes/sb_store_rlx(\&deque->pushes/
		counted_push core/queue/deque_counted.h s/own_head = sb_meet_head(sb_load_acq/own_head = sb_meet_head(sb_load_rlx/
		counted_push core/queue/deque_counted.h s/sb_store_rel(&deque->pushes/sb_fence_store_load(\&deque->pushes);&/
		counted_pop core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		counted_steal_half core/queue/deque_counted.h s/sb_load_acq(&deque->pushes)/sb_load_rlx(\&deque->pushes)/
		counted_steal_half core/queue/deque_counted.h s/sb_load_acq(&deque->ring)/sb_load_rlx(\&deque->ring)/
		counted_steal_half core/platform/atomic.h /define sb_cas_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		counted_size core/queue/deque_counted.h s/meet = sb_load_acq/meet = sb_load_rlx/
		sb_counted_grow core/queue/deque.c s/sb_store_rel(&deque->ring/sb_store_rlx(\&deque->ring/
		chase_lev_push core/queue/deque_chase_lev.h s/sb_store_rel(&deque->bottom, bottom + 1/sb_store_rlx(\&deque->bottom, bottom + 1/
		chase_lev_push core/queue/deque_chase_lev.h s/own_top = sb_load_acq/own_top = sb_load_rlx/
		chase_lev_pop core/queue/deque_chase_lev.h s/sb_store_rel(&deque->bottom, bottom - 1/sb_store_rlx(\&deque->bottom, bottom - 1/
		chase_lev_pop core/queue/deque_chase_lev.h s/sb_fence_store_load(&deque->top);.*F1 with F2.*//
		chase_lev_pop core/platform/atomic.h s/p, expected, v, memory_order_seq_cst/p, expected, v, memory_order_relaxed/
		chase_lev_steal_one core/queue/deque_chase_lev.h s/uint64_t top = sb_load_acq/uint64_t top = sb_load_rlx/
		chase_lev_steal_one core/queue/deque_chase_lev.h s/sb_fence_store_load(&deque->top);.*F2 with F1.*//
		chase_lev_steal_one core/queue/deque_chase_lev.h s/bottom = sb_load_acq/bottom = sb_load_rlx/
		chase_lev_steal_one core/queue/deque_chase_lev.h s/ring = sb_load_acq/ring = sb_load_rlx/
		chase_lev_steal_one core/platform/atomic.h s/p, expected, v, memory_order_seq_cst/p, expected, v, memory_order_acquire/
		chase_lev_size core/queue/deque_chase_lev.h s/const uint64_t top = sb_load_acq/const uint64_t top = sb_load_rlx/
		sb_chase_lev_grow core/queue/deque.c s/sb_store_rel(&deque->ring/sb_store_rlx(\&deque->ring/
		word_post core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		word_take core/word.h s/sb_xchg_acq_rel(&process->word, (uint64_t)SB_STATE_RUNNING/sb_xchg_rel(\&process->word, (uint64_t)SB_STATE_RUNNING/
		word_claim core/platform/atomic.h /define sb_cas_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		word_release core/platform/atomic.h /define sb_cas_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_relaxed/
		word_requeue core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_relaxed/
		word_complete core/word.h s/sb_xchg_acq_rel(&process->word, (uint64_t)SB_STATE_COMPLETE/sb_xchg_rel(\&process->word, (uint64_t)SB_STATE_COMPLETE/
		lock_acquire core/platform/atomic.h s/atomic_exchange_explicit(p, v, memory_order_acquire)/atomic_exchange_explicit(p, v, memory_order_relaxed)/
		lock_release core/platform/platform.h s/sb_store_rel(&lock->held/sb_store_rlx(\&lock->held/
		sb_lock_contended core/platform/platform.c s/while (sb_xchg_acq(&lock->held/while (sb_xchg_rel(\&lock->held/
		sb_park core/platform/threads.c s/sb_xchg_acq(&parker->state, EMPTY)/sb_store_rlx(\&parker->state, EMPTY)/
		sb_unpark core/platform/threads.c s/sb_xchg_acq_rel(&parker->state/sb_xchg_acq(\&parker->state/
		sb_idle_announce core/wake/idle.c s/sb_add_acq_rel(&idle->counts/sb_add_rlx(\&idle->counts/
		sb_idle_announce core/platform/atomic.h /define sb_or_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		sb_idle_announce core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		sb_idle_look core/wake/idle.c s/sb_load_acq(&idle->ask)/sb_load_rlx(\&idle->ask)/
		sb_idle_look core/wake/idle.c s/sb_load_acq(&idle->counts)/sb_load_rlx(\&idle->counts)/
		sb_idle_retract core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		sb_idle_search_begin core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		sb_idle_claim core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		take_bit core/platform/atomic.h /define sb_and_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		sb_idle_is_announced core/wake/idle.c s/sb_load_acq(word_of/sb_load_rlx(word_of/
		sb_idle_search_end core/platform/atomic.h /define sb_sub_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		sb_route_publish core/wake/publish.c s/sb_fence_store_load(&s->idle.counts);//
		sb_route_publish core/platform/atomic.h s/atomic_thread_fence(memory_order_seq_cst)/atomic_thread_fence(memory_order_acquire)/
		search_and_block core/worker/spin.c /sb_idle_announce/,/^}/s/sb_fence_store_load(&s->idle.counts);//
		search_and_block core/worker/spin.c /sb_idle_search_end/,/^}/s/sb_fence_store_load(&s->idle.counts);//
		sb_route_new core/wake/publish.c /^void sb_route_new/,/^}/s/sb_fence_store_load(&s->idle.counts);//
		submit_own core/memory/pidmap.h s/sb_store_rel(&name.entry/sb_store_rlx(\&name.entry/
		sb_pidmap_lookup core/memory/pidmap.c s/return sb_load_acq($/return sb_load_rlx(/
		sb_pidmap_lookup core/memory/pidmap.c s/return sb_load_acq(/return sb_load_rlx(/
		sb_pidmap_remove core/platform/atomic.h /define sb_sub_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		give_back_unused core/platform/atomic.h /define sb_sub_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_release/
		is_none core/process/live.c s/sb_load_acq(/sb_load_rlx(/
		sb_timekeeper_begin core/timers/timekeeper.c /sb_timekeeper_begin/,/^}/s/sb_fence_store_load(&s->timekeeper.until_ns);//
		sb_timekeeper_end core/timers/timekeeper.c s/sb_store_rel(&keeper->who/sb_store_rlx(\&keeper->who/
		sb_timekeeper_tell core/timers/timekeeper.c /sb_timekeeper_tell/,/^}/s/sb_fence_store_load(&s->timekeeper.until_ns);//
		sb_timekeeper_tell core/timers/timekeeper.c s/sb_load_acq(&s->timekeeper.who/sb_load_rlx(\&s->timekeeper.who/
		sb_relation_add core/process/relations.c s/sb_or_acq_rel(&other->word, 0)/sb_load_rlx(\&other->word)/
		sb_runq_push core/platform/platform.h s/sb_store_rel(&lock->held/sb_store_rlx(\&lock->held/
		publish core/queue/runq.c s/sb_store_rel(&queue->hot/sb_store_rlx(\&queue->hot/
		publish core/queue/runq.c s/sb_store_rel(&queue->pushed/sb_store_rlx(\&queue->pushed/
		sb_runq_take core/queue/runq.c s/sb_load_acq(&queue->hot/sb_load_rlx(\&queue->hot/
		sb_runq_take core/queue/runq.h s/sb_load_acq(&queue->taken)/sb_load_rlx(\&queue->taken)/
		sb_runq_take core/queue/runq.c s/length = sb_load_acq(&queue->pushed)/length = sb_load_rlx(\&queue->pushed)/
		sb_runq_take core/queue/runq.c s/sb_store_rel(&queue->taken/sb_store_rlx(\&queue->taken/
		sb_runq_append core/queue/runq.c /^static void collect_emptied/,/^}/s/sb_xchg_acq(&queue->emptied/sb_xchg_rel(\&queue->emptied/
		take_from_parts core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		sb_runq_take core/platform/platform.h s/sb_xchg_acq(&(lock)->held/sb_xchg_rel(\&(lock)->held/
		sb_pool_receive core/platform/atomic.h s/atomic_exchange_explicit(p, v, memory_order_acquire)/atomic_exchange_explicit(p, v, memory_order_relaxed)/
		sb_pool_free_slowly core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		return_grave core/platform/atomic.h /define sb_cas_weak_acq_rel(/,/^$/s/memory_order_acq_rel/memory_order_acquire/
		sb_worker_take_reclaimed core/memory/graves.c s/sb_xchg_acq(&w->reclaimed/sb_xchg_rel(\&w->reclaimed/
	END
}

# lists TREE UNIT MACHINE-FLAGS...: "function: its list", a line for each.
# Blocks stay in the order of the source, and static functions stay functions.
lists() {
	tree=$1 unit=$2
	shift 2
	$compiler "$@" -std=gnu11 -O2 -fno-reorder-blocks \
		-fno-inline-functions-called-once -I"$tree" -D_GNU_SOURCE -S -o - \
		"$tree/$unit" 2>"$work/errors" | awk '
		/^[A-Za-z_][A-Za-z0-9_.]*:/ {
			name = substr($1, 1, length($1) - 1); list = ""; next
		}
		$1 == ".size" && index($2, name ",") == 1 {
			print name ":" list; name = ""; next
		}
		name == "" { next }
		$1 ~ /^d[ms]b$/ {
			list = list " " $1 ($2 == "ish" ? "" : "-" $2)
		}
		$1 ~ /^(ldapu?r|ldar|stlu?r|lda?xr|stl?xr)[bh]?$/ ||
		$1 ~ /^(casp?|swp|(ld|st)(add|clr|set|eor|[su](max|min)))(al|a|l)?[bh]?$/ {
			list = list " " $1
		}
		$1 == "bl" || $1 == "b" && $2 !~ /^\./ { list = list " " $2 }'
}

# The same pattern with load-exclusive pairs.
pairs() {
	rmw='(cas|swp|ldadd|ldset|ldclr)'
	printf '%s\n' "$1" | sed -E "s/\b${rmw}al\b/ldaxr stlxr/g
		s/\b${rmw}a\b/ldaxr stxr/g; s/\b${rmw}l\b/ldxr stlxr/g
		s/\b$rmw\b/ldxr stxr/g"
}

# verify LISTS FUNCTION PATTERN: true, or says what there is.
verify() {
	found=$(sed -n "s/^$2: *//p" "$1")
	printf '%s\n' "$found" | grep -qxE -- "$3" && return 0
	echo "$2: expected '$3', found '$found'"
	sed 's/^/  /' "$work/errors"
	return 1
}

# verify_both TREE FUNCTION: false if either machine's code is wrong; what they
# say is in $wrong. $compiled names the unit whose lists are in the files.
verify_both() {
	wrong=
	orders | awk -v f="$2" '$2 == f' >"$work/row"
	read -r unit function pattern <"$work/row"
	if [ "$unit" != "$compiled" ]; then
		lists "$1" "$unit" -march=armv8.1-a >"$work/lse"
		lists "$1" "$unit" -march=armv8-a -mno-outline-atomics >"$work/pairs"
		compiled=$unit
	fi
	wrong=$(verify "$work/lse" "$function" "$pattern") || bad_lse=1
	wrong="$wrong
$(verify "$work/pairs" "$function" "$(pairs "$pattern")")" || bad_pairs=1
}

compiled=
orders | awk '{ print $2 }' >"$work/functions"
while read -r function; do
	bad_lse=0 bad_pairs=0
	verify_both . "$function"
	[ $((bad_lse + bad_pairs)) -eq 0 ] && ok=yes || ok=no
	report "$function" "$ok" "$wrong"
done <"$work/functions"

mistakes >"$work/mistakes"
while read -r function file weaken; do
	rm -rf "$work/tree"
	mkdir -p "$work/tree/tests/modules"
	cp -r core "$work/tree"
	cp tests/modules/orders.c "$work/tree/tests/modules"
	sed "$weaken" "$file" >"$work/tree/$file"
	bad_lse=0 bad_pairs=0 compiled=
	verify_both "$work/tree" "$function"
	if cmp -s "$file" "$work/tree/$file"; then
		wrong="the mistake could not be made: sed found nothing"
		bad_lse=0
	elif [ -s "$work/errors" ]; then
		wrong="$(cat "$work/errors")"
		bad_lse=0
	fi
	[ $((bad_lse + bad_pairs)) -eq 2 ] && ok=yes || ok=no
	report "it sees a mistake in $function: $file $weaken" "$ok" "$wrong"
done <"$work/mistakes"
echo "1..$n"
