# Whether --until-ci 30% of two repetitions a fork has ended at the first look that is narrow.
# usage: narrow.py RESULT
import csv, math, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1] + "/runs.csv")))
value = [float(r["ns_per_op"]) for r in rows]
median = [statistics.median(value[i:i + 2]) for i in range(0, len(value), 2)]
def is_narrow(n):
    ends = [k for k in range(1, n) if sum(math.comb(n, i) for i in range(k)) / 2**n <= 0.025]
    seen = sorted(median[:n])
    return seen[n - ends[-1]] - seen[ends[-1] - 1] <= 0.3 * statistics.median(seen)
narrow = [n for n in (9, 15, 25, 41, 60) if n <= len(median) and is_narrow(n)]
assert narrow == [len(median)] or not narrow and len(median) == 60, (narrow, len(median))
