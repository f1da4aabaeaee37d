# Builds, tests and runs sched-bench. `make help` lists the targets.

MODE ?= release
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := $(if $(findstring clang,$(CC)),clang++,g++)
endif
V ?= 0
comma := ,
hash := \#
PREFIX ?= /usr/local
LIBDIR ?= lib
# Where everything goes that is built.
O ?= build

BUILD := $(MODE)$(if $(findstring clang,$(CC)),-clang)$(if $(findstring aarch64,$(CC)),-arm64)
OUT := $(O)/$(BUILD)
Q := $(if $(filter 0,$(V)),@)

MODULES := core affinity workloads results harness
# Without the command: for the lines of core/ that no test runs, and with PART=core.
MODULES := $(if $(filter coverage,$(MODE))$(filter core,$(PART)),core affinity workloads,$(MODULES))
PACKAGES := hwloc liburcu-qsbr liburcu-cds jansson sqlite3 zlib libzstd cminpack

# CFLAGS, CPPFLAGS, CXXFLAGS, LDFLAGS and LDLIBS are the user's, and come last; what the project sets itself is in OWN_*.

# The hardening of all that is linked: a position-independent executable (the compilers' default on the supported
# systems) with full RELRO; of release builds, stack protector and checked C library calls, unless the user chose another level.
# What is measured is exempt from the stack protector, which costs 2 % of the instructions of a message, 4 % of a look-up of a
# PID and 16 % of a park: core/, and the loops of `micro` around it.
HARDENING := -fstack-protector-strong $(if $(findstring FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
EXEMPT := -fno-stack-protector

# What distinguishes the modes. Sanitizers see only the C library's heap.
# Aligned, or the speed of a function depends on what is linked in front of it.
CFLAGS_release := -O2 -falign-functions=32 $(HARDENING)
CFLAGS_debug := -O1 -DSB_DEBUG=1
# Null pointers and the ends of objects are the address sanitizer's.
CFLAGS_asan := -O1 -DSB_DEBUG=1 -DSB_ALLOC_LIBC=1 -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -fno-sanitize=null,object-size
# For AFL++, whose compiler is clang; see fuzz.
CFLAGS_fuzz := $(CFLAGS_asan)
CFLAGS_tsan := -O1 -DSB_DEBUG=1 -DSB_ALLOC_LIBC=1 -DSB_TSAN=1 -fsanitize=thread
# Counts are kept by all threads at once; nothing is optimized, so each line is.
CFLAGS_coverage := -O0 --coverage -fprofile-update=atomic
# What tests do themselves need not be fast, except in an emulator, and is compiled in half the time.
TEST_CFLAGS = $(if $(SYSROOT),-O1,-O0) -U_FORTIFY_SOURCE
ifeq ($(CFLAGS_$(MODE)),)
$(error MODE=$(MODE): expected release, debug, asan, tsan, coverage or fuzz)
endif
ALLOCATOR := $(if $(findstring ALLOC_LIBC,$(CFLAGS_$(MODE))),,jemalloc)

# A compiler for arm64 on another machine: scripts/setup.sh unpacks headers and
# libraries into SYSROOT, and what was built runs in an emulator. On an x86 host
# that shows that the code builds for arm64, is laid out right there, and runs
# with that machine's instructions, system calls and signals. It cannot show a
# memory order that is too weak: emulated threads are threads of the host, which
# reorders a store with a later load and nothing else.
ifneq ($(findstring aarch64,$(CC)),)
SYSROOT := build/arm64/sysroot
EMULATOR := qemu-aarch64 -L $(CURDIR)/$(SYSROOT)
endif
PKG_CONFIG := $(if $(SYSROOT),PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig) pkg-config

WARNINGS := -Wall -Wextra -Wshadow -Wundef -Wvla -Wcast-qual -Wwrite-strings \
	-Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wformat=2 -Wconversion -Wno-sign-conversion \
	-Wimplicit-fallthrough
# In CI a warning is an error: WERROR=1.
ERRORS := $(if $(filter-out 0,$(WERROR)),-Werror)
# Debian's valgrind cannot read what clang writes by default.
DEBUG_INFO := $(if $(findstring clang,$(CC)),-gdwarf-4,-g)
OWN_CFLAGS := -std=gnu11 $(DEBUG_INFO) -fno-omit-frame-pointer -pthread $(CFLAGS_$(MODE)) \
	$(SYSROOT:%=--sysroot=%) $(WARNINGS) $(ERRORS)
OWN_CPPFLAGS := -I. -D_GNU_SOURCE -DSB_BUILD_MODE='"$(MODE)"'
# C++, for two files: Google Benchmark's shim, and the stacks of virtual time. Not for arm64, where a compiler and
# a library of C++ would have to be fetched for what runs in an emulator.
SHIM := $(if $(SYSROOT),,harness/micro/shim)
OWN_CXXFLAGS := -std=c++17 $(DEBUG_INFO) -fno-omit-frame-pointer -pthread $(CFLAGS_$(MODE)) \
	-Wall -Wextra -Wshadow $(ERRORS)
OWN_CPPFLAGS += $(if $(SHIM),,-DSB_NO_GBENCH=1)
OWN_LDFLAGS := -Wl,-z,relro,-z,now
# A user may limit stacks to 128 KiB, and a few of these frames are on one.
# Sanitizers make frames larger.
FRAME := $(if $(filter release,$(MODE)),-Wframe-larger-than=24576)
OWN_LDLIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) $(ALLOCATOR) 2>/dev/null) -lm \
	$(if $(SHIM),-Wl$(comma)--as-needed -lbenchmark -lstdc++)
# Boost.Context, where virtual time is.
FIBER := $(if $(filter release release-clang debug,$(BUILD)),$(OUT)/core/platform/virtual/fiber_boost.o)
OWN_LDLIBS += $(FIBER:%=-lboost_context)
# Links the tests: half the time of the default linker. Gold warns of the sanitizer's symbols in
# what clang compiles.
FAST_LINKER := $(if $(findstring clang,$(CC)),lld,gold)
FAST_LINK := $(if $(shell command -v $(if $(SYSROOT),aarch64-linux-gnu-)ld.$(FAST_LINKER)),-fuse-ld=$(FAST_LINKER))
# Clang leaves the part of the sanitizers for C++ out where it links C.
OWN_LDLIBS += $(if $(findstring clang,$(CC)),$(if $(filter asan fuzz,$(MODE)),-fsanitize-link-c++-runtime))
OWN_CPPFLAGS += $(shell $(PKG_CONFIG) --cflags $(PACKAGES) $(ALLOCATOR) 2>/dev/null)

SOURCES := $(wildcard $(MODULES:%=%/*.c) $(MODULES:%=%/*/*.c))
# The library: the scheduler, and where its workers go. The command is made of the same objects, and has
# affinity/profile besides, which changes its process and so belongs into no other program.
LIBRARY_OBJECTS := $(patsubst %.c,$(OUT)/%.o,$(filter core/% $(patsubst %,affinity/%.c,cpus machine orders plan topology),$(SOURCES)))
$(OUT)/core/%.o $(OUT)/harness/micro/%.o: OWN_CFLAGS += $(EXEMPT)
$(LIBRARY_OBJECTS): OWN_CFLAGS += -fPIC -fno-semantic-interposition -ftls-model=initial-exec
OBJECTS = $(SOURCES:%.c=$(OUT)/%.o) $(SHIM:%=$(OUT)/%.o) $(VIRTUAL_WORLD) $(FIBER)
LIBRARY = $(filter-out $(OUT)/harness/main.o,$(OBJECTS))
PROGRAM := $(OUT)/sched-bench

# Tests run against the release build, and against one with rings of 4 slots
# and every assertion on, in which growth and wrap-around happen all the time.
TEST_SOURCES := $(wildcard tests/*/test_*.c)
# Only those builds can refuse allocations.
SMALL_ONLY := tests/core/test_memory.c tests/core/test_memory_run.c
TESTS := $(patsubst tests/%.c,$(OUT)/tests/%,$(filter-out $(SMALL_ONLY) tests/virtual/%,$(TEST_SOURCES)))
SMALL_SOURCES := $(filter $(patsubst %,tests/%/%.c,core message modules process record timers),$(TEST_SOURCES))
SMALL_TESTS := $(SMALL_SOURCES:tests/%.c=$(OUT)/small/tests/%)
SMALL_LIBRARY = $(patsubst $(OUT)/%,$(OUT)/small/%,$(filter-out $(FIBER),$(filter $(OUT)/core/%,$(LIBRARY))))
SMALL_FLAGS := -DSB_DEQUE_SLOTS=4 -DSB_BLOCK_SLABS=1 -DSB_PID_BLOCK=32 -DSB_RUNQ_SLOTS=3 -USB_DEBUG -DSB_DEBUG=1 -DSB_TEST_DELAYS=1
# Elsewhere gcc's helpers choose at run time: single instructions, with LSE.
SMALL_FLAGS += $(if $(SYSROOT),-mno-outline-atomics)
# The tests of core/ once more, in virtual time: there it has another platform. One of them
# looks at the kernel's threads. Sanitizers would have to be told of each switch of a fiber.
VIRTUAL_NOT := tests/core/test_start.c
VIRTUAL_SOURCES := $(filter-out core/platform/clock%.c core/platform/threads.c,$(wildcard core/*.c core/*/*.c)) \
	$(wildcard core/platform/virtual/*.c)
VIRTUAL_LIBRARY := $(VIRTUAL_SOURCES:%.c=$(OUT)/virtual/%.o)
# The command's own virtual time: scheduler, workloads and measurement once more, in one object
# that shows one function. What they need of the rest of the command they share with it.
VIRTUAL_WORLD_SOURCES := $(VIRTUAL_SOURCES) $(wildcard workloads/*.c workloads/*/*.c) \
	$(patsubst %,harness/run/%.c,config load measure rounds slo tracing) $(wildcard harness/within/*.c harness/virtual/world/*.c)
VIRTUAL_WORLD := $(OUT)/virtual/world.o
VIRTUAL_ENTRY := sb_virtual_measure
VIRTUAL_PORTED := $(filter $(patsubst %,tests/%/%.c,core message process record timers),$(filter-out $(SMALL_ONLY) $(VIRTUAL_NOT),$(TEST_SOURCES)))
VIRTUAL_TESTS := $(patsubst %.c,$(OUT)/virtual/%,$(VIRTUAL_PORTED) $(wildcard tests/virtual/test_*.c))
ifeq ($(FIBER),)
VIRTUAL_TESTS :=
VIRTUAL_WORLD :=
OWN_CPPFLAGS += -DSB_NO_VIRTUAL=1
VIRTUAL_LEFT_OUT := in this build, virtual time: its fibers are tested with MODE=release and MODE=debug
endif
# The models, the READMEs, the architecture and the library's installation do not depend on how the code is built, and the instructions that
# are looked at are arm64's.
SHELL_TESTS := $(filter-out $(if $(filter release,$(BUILD)),,%/test_models.sh %/test_howto.sh %/test_build.sh %/test_architecture.sh %/test_library.sh %/test_dist.sh %/test_pages.sh) \
	$(if $(SYSROOT),,%/test_orders.sh),$(wildcard tests/*/test_*.sh))
# Some builds are for core/, the code that depends on the machine: the emulated
# one, and the one that counts its lines. They leave the others' tests out, and
# say so.
ifneq ($(SYSROOT)$(filter coverage,$(MODE)),)
TESTS := $(filter $(SMALL_SOURCES:tests/%.c=$(OUT)/tests/%) %/test_workloads \
	$(if $(filter harness,$(MODULES)),%/test_harness %/test_results %/test_output %/test_summary %/test_files),$(TESTS))
SHELL_TESTS := $(filter %/test_orders.sh,$(SHELL_TESTS))
LEFT_OUT := this build is for core/: the tests of affinity/ and of the command
endif
# The tests of core/ are built twice. Sanitizers and the coverage run them in the small build alone, in
# which mistakes show more often. For arm64 only those run whose instructions,
# system calls or layouts differ there: the emulator orders memory as the host does.
ifneq ($(filter asan tsan coverage,$(MODE)),)
TESTS := $(filter-out $(SMALL_SOURCES:tests/%.c=$(OUT)/tests/%),$(TESTS))
else ifneq ($(SYSROOT),)
OF_MACHINE := test_files test_harness test_lifecycle test_output test_policies test_process test_results test_start test_stop_timer \
	test_summary test_workloads
TESTS := $(filter $(OF_MACHINE:%=\%/%),$(TESTS))
SMALL_TESTS := $(filter $(OUT)/small/tests/modules/% %/test_stress,$(SMALL_TESTS))
LEFT_OUT := $(LEFT_OUT), and of core/ what depends on no machine
endif
# This one is for what happens between threads.
ifeq ($(MODE),tsan)
ONE_THREAD := test_damage test_descriptions test_distribution test_files test_gate test_gate_values test_gnuplot test_hlog test_ini \
	test_forks test_job test_locations test_machines test_orders test_output test_paired test_plan test_plots test_precheck \
	test_progress test_read test_report test_results test_sides test_front test_ranking test_spoilt test_summary test_sweep test_table test_timeseries \
	test_trace_file test_uneven test_usl test_validity test_wide \
	test_ab.sh test_calibrate.sh test_chunks.sh test_command.sh test_complete.sh test_convert.sh test_demo.sh test_exemplars.sh test_files.sh test_forks.sh test_fuzz.sh test_gate.sh \
	test_habits.sh test_hangs.sh test_help.sh test_limits.sh test_machines.sh test_page.sh test_plugin.sh test_description.sh test_peers.sh test_pictures.sh test_placement.sh test_plot.sh test_saved.sh test_service.sh \
	test_stops.sh test_sweep.sh test_terminal.sh test_timeseries.sh test_topo.sh test_untrusted.sh
TESTS := $(filter-out $(ONE_THREAD:%=\%/%),$(TESTS))
SHELL_TESTS := $(filter-out $(ONE_THREAD:%=\%/%),$(SHELL_TESTS))
LEFT_OUT := in this build, what has one thread or measures: $(ONE_THREAD)
endif
# What measures finds nothing out in a build that is many times slower, and pages and texts are the same in it.
ifeq ($(MODE),asan)
MEASURES := test_ab.sh test_calibrate.sh test_demo.sh test_exemplars.sh test_forks.sh test_gate.sh test_hangs.sh test_help.sh test_limits.sh test_page.sh test_stops.sh
SHELL_TESTS := $(filter-out $(MEASURES:%=\%/%),$(SHELL_TESTS))
LEFT_OUT := in this build, what measures, or looks at pages or texts: $(MEASURES)
endif
# A second compiler shows little in scripts that run the command.
ifeq ($(PART),programs)
SHELL_TESTS :=
LEFT_OUT := PART=programs: the scripts that test the command
endif
# Those that take minutes in some build begin first, lest one runs alone at the end.
CHECKED = $(SHELL_TESTS) $(EXPLORE) $(TORTURE_TEST) $(VIRTUAL_TESTS) $(TESTS) $(SMALL_TESTS)
LONG_TESTS := %/test_contract %/test_damage %/test_orders.sh %/test_models.sh %/test_pictures.sh %/test_gate.sh %/test_howto.sh
# The command with a workload whose check always fails; see tests/command/wrong.c.
WRONG := $(OUT)/tests/sched-bench-wrong

# What lets calls of the command fail; see tests/faults/faults.c.
FAULTS := $(OUT)/tests/faults.so

# What the fuzzer runs, and test_fuzz.sh on every input that ever failed.
FUZZ := $(OUT)/tests/fuzz/fuzz
FUZZ_OBJECTS := $(patsubst %.c,$(OUT)/%.o,$(wildcard tests/fuzz/*.c))

# Scenarios under many schedules; one compiler is enough.
EXPLORE := $(if $(filter release debug,$(BUILD)),$(OUT)/explore/explore)

# The torture driver knows the public headers alone, and links a library that shows nothing else; but
# for one switch of the tests' builds, which refuses allocations. Its parts for virtual time are
# explore's.
TORTURE := $(OUT)/torture/torture
# `make check` runs it where threads are real and nothing is counted.
TORTURE_TEST := $(if $(SYSROOT)$(filter coverage fuzz,$(MODE)),,$(TORTURE))
TORTURE_SMALL := $(filter-out $(patsubst %,tests/torture/%.c,host_threads main rounds shrink),$(wildcard tests/torture/*.c))
TORTURE_SOURCES := $(filter-out %/host_virtual.c,$(wildcard tests/torture/*.c))

# The library's interface: headers that C11 and C++17 read by themselves. A change of the interface that
# a program would notice changes the number behind .so.
PUBLIC_HEADERS := affinity/machine.h core/commands.def core/commands.h core/config.h core/dispatch.h core/placement.h \
	core/platform/public.h core/process.h core/scheduler.h core/step.h
SONAME := libschedbench.so.1
LIBRARIES := $(OUT)/libschedbench.a $(OUT)/$(SONAME)
VERSION := $(shell awk -F'"' '/SB_VERSION/{print $$2}' harness/cli/version.h)
LIBRARY_PACKAGES := hwloc liburcu-qsbr liburcu-cds
# The library refers to jemalloc weakly (core/memory/arena.c). A program that is linked with the library
# gets it from pkg-config, also where it refers to none of it itself and the linker drops such libraries.
LIBRARY_ALLOCATOR := $(if $(ALLOCATOR),-Wl$(comma)--push-state$(comma)--no-as-needed$(shell $(PKG_CONFIG) --libs $(ALLOCATOR) 2>/dev/null | sed 's/^ */ /; s/ *$$//; s/  */$(comma)/g')$(comma)--pop-state)

# What a plug-in includes: all that the one to begin with does.
PLUGIN_HEADERS = $(filter-out %.c %:,$(subst \,,$(shell $(CC) -MM -I. harness/plugin/skeleton/countdown.c)))

# mode:file:where
INSTALLED = 755:$(PROGRAM):bin/sched-bench \
	644:$(OUT)/sched-bench.1:share/man/man1/sched-bench.1 \
	644:harness/guide/completion.bash:share/bash-completion/completions/sched-bench \
	644:harness/guide/completion.zsh:share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)/_sched-bench \
	644:harness/guide/completion.fish:share/fish/vendor_completions.d/sched-bench.fish \
	$(foreach h,$(PLUGIN_HEADERS),644:$(h):include/schedbench/$(h))
INSTALLED_LIBRARY := 644:$(OUT)/libschedbench.a:$(LIBDIR)/libschedbench.a 755:$(OUT)/$(SONAME):$(LIBDIR)/$(SONAME) \
	644:$(OUT)/schedbench.pc:$(LIBDIR)/pkgconfig/schedbench.pc 644:affinity/schedbench.3:share/man/man3/schedbench.3 \
	644:affinity/schedbench.h:include/schedbench/schedbench.h $(foreach h,$(PUBLIC_HEADERS),644:$(h):include/schedbench/$(h))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE all bench check check-arm64 check-core check-deb check-numa check-slurm check-suites coverage deb faults fuzz build-fuzz explore torture gate gate-baseline mutants build-tests models lint format micro peers install library install-library dist uninstall clean help

all: $(PROGRAM) ## build the command (default)

bench: ## install what is missing, build, measure three workloads for a minute
	$(Q)scripts/setup.sh bench
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) all
	$(Q)$(PROGRAM) run -w pingpong -w yield -w skynet --forks 25 --output-root $(O)/results

check: ## install what is missing, build, run every test (MODE=, CC=)
	$(Q)scripts/setup.sh check
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) $(if $(filter harness,$(MODULES)),all) build-tests
	$(if $(LEFT_OUT),@echo "# skipped: $(LEFT_OUT)")
	$(if $(VIRTUAL_LEFT_OUT),@echo "# skipped: $(VIRTUAL_LEFT_OUT)")
	$(Q)EMULATOR='$(EMULATOR)' tests/run.sh $(OUT) $(filter $(LONG_TESTS),$(CHECKED)) $(filter-out $(LONG_TESTS),$(CHECKED))

# The tests of core/ as rings of four slots make them hard, one in virtual time, and the library as a user has it.
CORE_TESTS := $(filter-out %/test_stress,$(SMALL_TESTS)) $(filter %/virtual/test_theory,$(VIRTUAL_TESTS))
check-core: $(CORE_TESTS) library ## run the tests of core/ and of the library alone, and install nothing
	$(Q)tests/run.sh $(OUT) $(filter %/test_library.sh,$(SHELL_TESTS)) $(CORE_TESTS)

SUITES ?= trixie sid
check-suites: dist ## in fresh roots of other Debian releases, the tests of core/ (SUITES=, needs root)
	$(Q)scripts/setup.sh suites
	$(Q)scripts/check-suites.sh $(abspath $(TARBALL).tar.gz) $(SUITES)

check-arm64: ## build for arm64, run the tests of core/ in an emulator
	$(Q)$(MAKE) --no-print-directory check CC=aarch64-linux-gnu-gcc

check-numa: ## boot a machine with three NUMA nodes in an emulator, and look where memory lies
	$(Q)scripts/setup.sh numa
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) all
	$(Q)tests/run.sh $(OUT) tests/numa/test_judge.py tests/numa/check.sh

check-slurm: ## install and start Slurm with four nodes on this machine, run sweeps on it, with faults (RUNS=1)
	$(Q)scripts/setup.sh slurm
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) all
	$(Q)tests/run.sh $(OUT) tests/fleet/check_slurm.sh

coverage: ## run the tests of core/, and list the lines of core/ that no test ran
	$(Q)find $(O)/coverage -name '*.gcda' -delete 2>/dev/null || true
	$(Q)$(MAKE) --no-print-directory check MODE=coverage CC=gcc
	$(Q)scripts/coverage.py $(O)/coverage core/ 95

VERB ?=
KIND ?=
STRIDE ?= 0
faults: $(PROGRAM) $(FAULTS) ## let the n-th call fail, of each kind, under every verb (VERB=, KIND=, STRIDE=1 for every n)
	$(Q)python3 tests/faults/faults.py $(OUT) --verb '$(VERB)' --kind '$(KIND)' --stride $(STRIDE)

SECONDS ?= 60
fuzz: ## install what is missing, build, let AFL++ look for inputs that do harm (SECONDS=60 each, TARGETS=)
	$(Q)scripts/setup.sh fuzz
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) MODE=fuzz CC=afl-clang-fast build-fuzz
	$(Q)scripts/fuzz.sh $(O)/fuzz-clang/tests/fuzz/fuzz $(SECONDS) $(TARGETS)

build-fuzz: $(FUZZ)

gate: $(PROGRAM) ## gate this tree: in virtual time, and against the commit before it (BASE=) by instructions, steals, wakes and parks
	$(Q)scripts/gate-self.sh $(PROGRAM) $(BASE)

explore: $(OUT)/explore/explore ## look for schedules that break scenarios of the scheduler (SCHEDULES=, SB_SEED=)
	$(Q)$< --schedules $(or $(SCHEDULES),10000)

torture: $(TORTURE) ## drive the public interface at random (SECONDS=60, SEED=, WORKERS=, WITHOUT=names; MODE=asan, tsan)
	$(Q)$< --seconds $(SECONDS) $(SEED:%=--seed %) $(WORKERS:%=--workers %) $(WITHOUT:%=--without %)

gate-baseline: $(PROGRAM) ## after a change of policy that is meant: measure the baseline of gates in virtual time again
	$(Q)$(PROGRAM) gate --virtual --save-baseline tests/virtual/gate.csv

build-tests: $(TESTS) $(SMALL_TESTS) $(VIRTUAL_TESTS) $(EXPLORE) $(TORTURE_TEST) $(if $(filter-out %/test_orders.sh,$(SHELL_TESTS)),$(WRONG) $(FUZZ) $(FAULTS))

mutants: ## make mistakes in a copy of the code, one at a time; each must be caught (KIND=gate: those of policy)
	$(Q)scripts/setup.sh check
	$(Q)python3 tests/mutants.py $(KIND:%=--kind %)

models: ## check the models of the scheduler's protocols with Spin
	$(Q)scripts/setup.sh models
	$(Q)SB_MODELS_LARGE=1 sh tests/models/test_models.sh $(OUT)

lint: $(OUT)/revision.h $(OUT)/page_hashes.h ## formatting, static analysis, shell scripts, architecture
	$(Q)scripts/setup.sh lint
	$(Q)scripts/lint.sh

format: ## rewrite the sources in the project's format
	$(Q)clang-format -i $(wildcard $(MODULES:%=%/*.[ch]) $(MODULES:%=%/*/*.[ch]) $(MODULES:%=%/*/*/*.[ch]) core/platform/virtual/*.cc harness/*/*.cc tests/*.[ch] tests/*/*.[ch] \
		scripts/peers/*.c scripts/peers/*.cc scripts/peers/*.h)

micro: $(PROGRAM) ## time the scheduler's primitives
	$(Q)$(PROGRAM) micro

PEERS_ROUNDS ?= 5
peers: ## install what is missing, build, compare with Go, Tokio, oneTBB, CAF, Erlang (PEERS_ROUNDS=5, PEERS_ARGS=)
	$(Q)scripts/setup.sh peers
	$(Q)$(MAKE) --no-print-directory -j $$(nproc) MODE=release all
	$(Q)scripts/peers/peers.py --rounds $(PEERS_ROUNDS) $(PEERS_ARGS)

install_files = $(Q)for file in $(1); do IFS=:; set -- $$file; \
		install -D -m $$1 $$2 "$(DESTDIR)$(PREFIX)/$$3" || exit; done

install: all $(OUT)/sched-bench.1 ## program, man page, completions (PREFIX=/usr/local, DESTDIR=)
	$(call install_files,$(INSTALLED))

library: $(LIBRARIES) ## libschedbench, static and shared: the scheduler for other programs

install-library: library $(OUT)/schedbench.pc ## library, headers and pkg-config file (PREFIX=, DESTDIR=)
	$(call install_files,$(INSTALLED_LIBRARY))
	$(Q)ln -sf $(SONAME) "$(DESTDIR)$(PREFIX)/$(LIBDIR)/libschedbench.so"

# git archive gives the files the time of the commit, and gzip -n stores none: the same bytes each time.
TARBALL := $(O)/sched-bench-$(VERSION)
dist: ## a tarball of the last commit, the same bytes each time
	@mkdir -p $(O)
	$(Q)revision=$$(git describe --always --abbrev=12) && git archive --prefix=sched-bench-$(VERSION)/ \
		--add-virtual-file=sched-bench-$(VERSION)/REVISION:"$$revision" HEAD >$(TARBALL).tar && gzip -9nf $(TARBALL).tar
	@echo "$(TARBALL).tar.gz"

deb: dist ## Debian packages of the last commit, linted, in build/deb
	$(Q)scripts/setup.sh deb
	$(Q)scripts/deb/build.sh $(VERSION) $(TARBALL).tar.gz $(O)/deb

check-deb: deb ## install the packages in a fresh Debian 12, use them there, remove them
	$(Q)scripts/deb/check.sh $(O)/deb

uninstall: ## remove what install and install-library have installed
	$(Q)for file in $(INSTALLED) $(INSTALLED_LIBRARY) ::$(LIBDIR)/libschedbench.so; do \
		rm -f "$(DESTDIR)$(PREFIX)/$${file##*:}" || exit; done
	$(Q)rm -rf "$(DESTDIR)$(PREFIX)/include/schedbench"

clean: ## remove everything that was built
	$(Q)rm -rf $(if $(filter build,$(O)),build,$(OUT))

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' Makefile
	@echo "  MODE=release|debug|asan|tsan|coverage  CC=gcc|clang  O=build  WERROR=1  V=1  CFLAGS= CPPFLAGS= LDFLAGS="

print-%:
	$(info $($*))@:

# $(call written,FILE,VARIABLE): the rule of a file that has the variable's value; it is written when it has another.
define written
ifneq ($$(file <$(1)),$$($(2)))
$(1): FORCE
endif
$(1):
	@mkdir -p $$(@D)
	$$(Q)$$(CHECK_$(2))
	@printf '%s\n' '$$(subst ','\'',$$($(2)))' >$$@
endef

# A changed flag or compiler rebuilds everything that it went into.
STAMP := $(OUT)/flags
BUILD_LINE := $(CC) $(OWN_CFLAGS) $(CFLAGS) $(CXX) $(OWN_CXXFLAGS) $(CXXFLAGS) $(OWN_CPPFLAGS) $(CPPFLAGS) \
	$(OWN_LDFLAGS) $(LDFLAGS) $(OWN_LDLIBS) $(LDLIBS)
CHECK_BUILD_LINE = $(CC) $(CPPFLAGS) $(CFLAGS) -dM -E -x c /dev/null | grep -q __LP64__ || \
	{ echo "sched-bench is for 64-bit machines; '$(CC)' compiles for another, or does not work" >&2; exit 1; }
$(eval $(call written,$(STAMP),BUILD_LINE))

# The revision goes into one object, which alone is rebuilt when it changes.
REVISION := $(shell if [ -e .git ]; then git --no-optional-locks describe --always --dirty --abbrev=12; else cat REVISION; fi 2>/dev/null || echo unknown)
REVISION_LINE := $(hash)define SB_REVISION "$(REVISION)"
$(eval $(call written,$(OUT)/revision.h,REVISION_LINE))
$(OUT)/harness/output/facts.o: $(OUT)/revision.h
$(OUT)/harness/output/facts.o: OWN_CPPFLAGS += -I$(OUT)

# The page's style and script become text in one object. Their hashes are in it,
# too: nothing else is style or script to who shows the page.
page_hash = sha256-$$(sha256sum results/page/page.$(1) | cut -c-64 | tr a-f A-F | basenc --base16 -d | base64)
$(OUT)/page_hashes.h: results/page/page.css results/page/page.js
	@mkdir -p $(@D)
	@printf '#define SB_PAGE_%s_HASH "%s"\n' CSS "$(call page_hash,css)" JS "$(call page_hash,js)" >$@
$(OUT)/results/page/assets.o: $(OUT)/page_hashes.h results/page/page.css results/page/page.js
$(OUT)/results/page/assets.o: OWN_CPPFLAGS += -I$(OUT)

$(OUT)/harness/virtual/models.o: $(wildcard harness/virtual/models/*.json)

# The texts of `help TOPIC`.
$(OUT)/harness/guide/topics.o: $(shell awk -F'"' '/^TOPIC/{print $$2}' harness/guide/topics.def)

$(OUT)/harness/fleet/slurm_job.o: harness/fleet/chunk_job.sh

$(OUT)/harness/verbs/new.o: harness/plugin/skeleton/countdown.c

# A dump of its stacks has names.
$(PROGRAM) $(WRONG): OWN_LDLIBS += -rdynamic

# Where the command looks for the headers of plug-ins: in the tree above its own, or beside it.
$(PROGRAM): $(OBJECTS)
	$(call link,$^ $(OWN_LDLIBS))
	$(Q)$(if $(filter build,$(O)),,mkdir -p $(O)/include && ln -sfn $(CURDIR) $(O)/include/schedbench)

# Nothing but the interface is visible: all else may have any name.
SYMBOLS := affinity/schedbench.symbols
$(OUT)/$(SONAME): $(LIBRARY_OBJECTS) $(SYMBOLS)
	$(Q)(echo 'SCHEDBENCH_1 { global:'; sed 's/$$/;/' $(SYMBOLS); echo 'local: *; };') >$(OUT)/schedbench.map
	$(call link,-shared -Wl$(comma)-soname$(comma)$(SONAME) -Wl$(comma)--version-script$(comma)$(OUT)/schedbench.map -Wl$(comma)-z$(comma)defs $(LIBRARY_OBJECTS) \
		$(shell $(PKG_CONFIG) --libs $(LIBRARY_PACKAGES) 2>/dev/null) -lm)

$(OUT)/libschedbench.a: $(LIBRARY_OBJECTS) $(SYMBOLS)
	@echo "  AR    $@"
	$(Q)ld -r -o $@.o $(LIBRARY_OBJECTS)
	$(Q)objcopy --keep-global-symbols=$(SYMBOLS) $@.o
	$(Q)rm -f $@ && ar rcsD $@ $@.o && rm -f $@.o

# The prefix may be another one each time.
.PHONY: $(OUT)/schedbench.pc
$(OUT)/schedbench.pc:
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/$(LIBDIR)' 'includedir=$${prefix}/include' 'Name: schedbench' 'Description: work-stealing scheduler of processes' \
		'Version: $(VERSION)' 'Cflags: -I$${includedir}/schedbench -pthread' 'Libs: -L$${libdir} -lschedbench -pthread $(LIBRARY_ALLOCATOR)' \
		'Requires.private: $(LIBRARY_PACKAGES) $(ALLOCATOR)' 'Libs.private: -lm' >$@

# From the tables that the program is made of.
$(OUT)/sched-bench.1: $(PROGRAM)
	$(Q)$(EMULATOR) $(PROGRAM) manual man >$@

$(foreach build,$(OUT) $(OUT)/small $(OUT)/virtual $(OUT)/explore,$(build)/tests/%.o): OWN_CFLAGS += $(TEST_CFLAGS)

# $(call compile,FLAGS), $(call link,OBJECTS AND LIBRARIES)
# Neither the tree's place nor the time is in what is built.
SAME_BYTES := -ffile-prefix-map=$(CURDIR)=.
define compile
	@mkdir -p $(@D)
	@echo "  CC    $@"
	$(Q)$(CC) $(SAME_BYTES) $(OWN_CPPFLAGS) $(1) $(CPPFLAGS) $(OWN_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
endef
define link
	@echo "  LINK  $@"
	$(Q)$(CC) $(OWN_CFLAGS) $(CFLAGS) $(OWN_LDFLAGS) $(LDFLAGS) -o $@ $(1) $(LDLIBS)
endef

$(OUT)/%.o: %.c $(STAMP) Makefile
	$(call compile,$(if $(filter tests/%,$<),,$(FRAME)))

$(OUT)/%.o: %.cc $(STAMP) Makefile
	@mkdir -p $(@D)
	@echo "  CXX   $@"
	$(Q)$(CXX) $(SAME_BYTES) $(OWN_CPPFLAGS) $(CPPFLAGS) $(OWN_CXXFLAGS) $(CXXFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/small/%.o: %.c $(STAMP) Makefile
	$(call compile,$(SMALL_FLAGS))

$(OUT)/virtual/tests/%.o: OWN_CPPFLAGS += $(if $(findstring /virtual/tests/virtual/,$@),,-include tests/virtual/main.h)

# Their memory is the run's region; see core/platform/virtual/region.h.
VIRTUAL_HEAP := -DSB_ALLOC_LIBC=1 $(foreach f,malloc calloc realloc aligned_alloc free,-D$f=sb_region_$f) \
	-include core/platform/virtual/region.h
$(patsubst %.c,$(OUT)/virtual/%.o,$(filter-out core/platform/virtual/%,$(filter core/% workloads/%,$(VIRTUAL_WORLD_SOURCES)))): \
	OWN_CPPFLAGS += $(VIRTUAL_HEAP)

$(OUT)/virtual/world.o: $(VIRTUAL_WORLD_SOURCES:%.c=$(OUT)/virtual/%.o)
	@echo "  LD    $@"
	$(Q)ld -r -o $@.all $^
	$(Q)objcopy --keep-global-symbol=$(VIRTUAL_ENTRY) $@.all $@
	$(Q)rm -f $@.all

$(OUT)/virtual/%.o: %.c $(STAMP) Makefile
	$(call compile,-DSB_VIRTUAL=1)

$(VIRTUAL_PORTED:%.c=$(OUT)/virtual/%): $(OUT)/virtual/tests/virtual/main.o
$(OUT)/virtual/tests/virtual/test_theory: $(patsubst %,$(OUT)/virtual/workloads/load/%.o,arrival_times distribution input quantity)
# Scenarios under schedules that look for mistakes: with small structures, and all assertions.
$(OUT)/explore/%.o: %.c $(STAMP) Makefile
	$(call compile,$(filter-out -DSB_TEST_DELAYS=1,$(SMALL_FLAGS)) -DSB_POOL_IS_WATCHED=1 -DSB_VIRTUAL=1)

$(patsubst %.c,$(OUT)/explore/%.o,$(filter-out core/platform/virtual/%,$(VIRTUAL_SOURCES))): OWN_CPPFLAGS += $(VIRTUAL_HEAP)

$(OUT)/explore/explore: $(patsubst %.c,$(OUT)/explore/%.o,$(wildcard tests/explore/*.c) $(TORTURE_SMALL) $(VIRTUAL_SOURCES)) $(FIBER)
	$(call link,$^ $(FAST_LINK) $(OWN_LDLIBS) -lcmocka)

# A test links only what it uses.
$(OUT)/all.a: $(LIBRARY)
$(OUT)/small/all.a: $(SMALL_LIBRARY)
$(OUT)/virtual/all.a: $(VIRTUAL_LIBRARY) $(FIBER)
%/all.a:
	@echo "  AR    $@"
	$(Q)rm -f $@ && ar rcsT $@ $^

$(VIRTUAL_TESTS): $(OUT)/%: $(OUT)/%.o $(OUT)/virtual/all.a
	$(call link,$(filter %.o,$^) $(filter %.a,$^) $(FAST_LINK) $(OWN_LDLIBS) -lcmocka)

# Its scenes refuse a thread to the library.
CONTRACT := $(OUT)/tests/contract/test_contract
$(CONTRACT): $(patsubst %,$(OUT)/tests/contract/%.o,actors functions scene table)
$(OUT)/tests/contract/test_config: $(OUT)/tests/contract/config_load.o
$(CONTRACT): OWN_LDLIBS += -Wl$(comma)--wrap=pthread_create

$(TESTS): $(OUT)/%: $(OUT)/%.o $(OUT)/all.a
	$(call link,$(filter %.o,$^) $(filter %.a,$^) $(FAST_LINK) $(OWN_LDLIBS) -lcmocka)

$(FUZZ): $(FUZZ_OBJECTS) $(OUT)/all.a
	$(call link,$^ $(OWN_LDLIBS))

$(OUT)/torture/libschedbench.a: $(patsubst %.c,$(OUT)/small/%.o,$(filter core/% affinity/%,$(SOURCES))) $(SYMBOLS)
	@echo "  AR    $@"
	@mkdir -p $(@D)
	$(Q)ld -r -o $@.o $(filter %.o,$^)
	$(Q)objcopy --keep-global-symbols=$(SYMBOLS) --keep-global-symbol=sb_test_allocations $@.o
	$(Q)rm -f $@ && ar rcsD $@ $@.o && rm -f $@.o

$(TORTURE): $(TORTURE_SOURCES:%.c=$(OUT)/small/%.o) $(OUT)/torture/libschedbench.a
	$(call link,$^ $(shell $(PKG_CONFIG) --libs $(LIBRARY_PACKAGES) 2>/dev/null) -lm $(LIBRARY_ALLOCATOR))

$(SMALL_TESTS): $(OUT)/small/%: $(OUT)/small/%.o $(OUT)/small/all.a
	$(call link,$^ $(FAST_LINK) $(OWN_LDLIBS) -lcmocka)

$(FAULTS): tests/faults/faults.c tests/faults/kinds.def $(STAMP) Makefile
	@mkdir -p $(@D)
	$(call link,$(OWN_CPPFLAGS) $(CPPFLAGS) -fPIC -fexceptions -shared $<)

$(OUT)/tests/registry_wrong.o: workloads/registry.c $(STAMP) Makefile
	$(call compile,-DSB_EXTRA_WORKLOADS='"tests/command/wrong.def"')

$(OUT)/tests/kind_wrong.o: harness/micro/kind.c $(STAMP) Makefile
	$(call compile,-DSB_EXTRA_KINDS='"tests/command/wrong_kinds.def"')

$(WRONG): $(filter-out $(OUT)/workloads/registry.o $(OUT)/harness/micro/kind.o,$(OBJECTS)) \
	$(OUT)/tests/registry_wrong.o $(OUT)/tests/kind_wrong.o $(OUT)/tests/command/wrong.o $(OUT)/tests/command/wrong_kinds.o
	$(call link,$^ $(OWN_LDLIBS))

-include $(shell find $(OUT) -name '*.d' 2>/dev/null)
