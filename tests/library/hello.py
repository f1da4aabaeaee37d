"""hello.c from a program that loads the library when it runs, as ctypes, JNI and plug-ins do: loads it,
runs a process, unloads it; twice. usage: hello.py LIBRARY"""
import ctypes
import os
import sys
import time
from _ctypes import dlclose

CONTINUE, DONE = 0, 3  # enum sb_status (core/process.h)


class Step(ctypes.Structure):
    """The beginning of struct sb_step (core/step.h)."""
    _fields_ = [("self", ctypes.c_uint64), ("worker", ctypes.c_void_p), ("result", ctypes.c_uint64)]


class Exit(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint64), ("error", ctypes.c_int), ("result", ctypes.c_uint64)]


STATE = ctypes.POINTER(ctypes.c_uint64)
INIT = ctypes.CFUNCTYPE(ctypes.c_int, STATE, ctypes.c_char_p, ctypes.c_uint64)
STEP = ctypes.CFUNCTYPE(ctypes.c_int, STATE, ctypes.POINTER(Step), ctypes.c_void_p, ctypes.c_uint32)


class Ops(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("state_bytes", ctypes.c_size_t), ("init", INIT), ("step", STEP),
                ("close", ctypes.c_void_p)]


@INIT
def init(state, method, count):
    state[0] = count
    return 0


@STEP
def step(state, out, events, count):
    if state[0]:
        state[0] -= 1
        return CONTINUE
    out[0].result = 42
    return DONE


OPS = Ops(b"counter", 8, init, step, None)


def hello(path):
    lib = ctypes.CDLL(path)
    config, placement = (ctypes.create_string_buffer(4096) for _ in range(2))
    scheduler, result = ctypes.c_void_p(), Exit()
    lib.sb_config_init(config)
    for rc in (lib.sb_placement_here(0, placement),
               lib.sb_scheduler_create(ctypes.byref(scheduler), config, placement),
               lib.sb_scheduler_start(scheduler, None),
               lib.sb_scheduler_execute(scheduler, ctypes.byref(OPS), b"count", ctypes.c_uint64(1000),
                                        ctypes.byref(result)),
               lib.sb_scheduler_stop(scheduler, ctypes.c_uint64(2**64 - 1))):
        if rc or result.error:
            sys.exit(f"error {rc}, of the process {result.error}")
    lib.sb_scheduler_destroy(scheduler)
    lib.sb_placement_free(placement)
    dlclose(lib._handle)
    return result.result


def is_loaded():
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        return "libschedbench" in maps.read()


def threads():
    """The kernel lists a thread that was joined for a moment longer."""
    for _ in range(1000):
        if len(os.listdir("/proc/self/task")) == 1:
            break
        time.sleep(0.001)
    return len(os.listdir("/proc/self/task"))


for _ in range(2):
    answer = hello(sys.argv[1])
    print(f"hello: {answer}, {'still loaded' if is_loaded() else 'unloaded'}, threads {threads()}")
