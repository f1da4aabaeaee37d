#!/bin/sh
# scripts/virtual-check, with a program that is made up: it reports the errors of a model that is fitted
# in each round, and those of a model that was saved earlier, which keeps its own transfer.
# usage: test_virtual_check.sh BUILD_DIRECTORY
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/tap.sh

# Real runs take 100 ns; virtual ones what transfer_cache is, in which the fitted model is 10 ns off
# after virtual-check has set it, and the saved one 30.
cat >"$work/checks.py" <<'END'
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import sys

work = sys.argv[1]
loader = importlib.machinery.SourceFileLoader("virtual_check", "scripts/virtual-check")
sys.dont_write_bytecode = True
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("virtual_check", loader))
loader.exec_module(check)


class Args:
    program, only, output = "none", "pingpong", work
    model, fitted = f"{work}/saved.json", f"{work}/fitted.json"


def save(path, ns):
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"machine": "none", "values": {"transfer_cache": {"ns": ns}}}, out)


class Quiet:
    def run(self, is_memory, what):
        return what([0, 1]), 110


def run(args, workload, options, workers, seed, metric, cpus=None, source="", transfer=None):
    if cpus:
        return 100
    check.write_model(source, transfer, f"{work}/used.json")
    with open(f"{work}/used.json", encoding="utf-8") as stream:
        return json.load(stream)["values"]["transfer_cache"]["ns"]


save(Args.fitted, 50)
save(Args.model, 130)
check.run, check.draw = run, lambda rows, path: None
times, order = {}, [[]]
for seed in (1, 2):
    check.times_of_round(Args, Quiet(), seed, times)
out = io.StringIO()
with contextlib.redirect_stdout(out):
    rows, _ = check.report(Args, times, order)
print(out.getvalue())
assert "model fitted within seconds: all: median error 10.0 %, largest 10.0 %" in out.getvalue()
assert "model saved earlier: all: median error 30.0 %, largest 30.0 %" in out.getvalue()
assert {row["model"] for row in rows} == {"saved earlier"}
check.save(Args.model, rows, 1.0)
with open(Args.model, encoding="utf-8") as stream:
    assert json.load(stream)["validation"]["median_error_pct"] == 30.0
END
holds "two models, two errors, and the saved one's are saved" python3 "$work/checks.py" "$work"
no_such_model() {
	scripts/virtual-check --model "$work/none.json" --output "$work/out" 2>"$work/err"
	[ $? -eq 2 ] && grep -q "there is no file '$work/none.json'" "$work/err"
}
if [ "$(nproc)" -gt 1 ]; then
	holds "a model that is not there is refused" no_such_model
else
	n=$((n + 1))
	echo "ok $n - a model that is not there is refused # SKIP virtual-check takes two CPUs"
fi
echo "1..$n"
