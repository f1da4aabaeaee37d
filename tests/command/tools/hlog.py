#!/usr/bin/env python3
"""Latencies, a line for each series, repetition and histogram that has any: tag, count, percentiles.

hlog.py csv DIRECTORY   from runs.csv and latency.csv
hlog.py log FILE        from an HdrHistogram log, decoded by the description of its format

Both say the same if the log holds what the table does. Percentile 0 is the lowest value that a
bucket stands for; of all others the table has the middle of our bucket, the log the highest value
of HdrHistogram's.
"""
import base64
import csv
import re
import struct
import sys
import zlib
from fractions import Fraction

PERCENTILES = [Fraction(p) for p in ("0", "50", "90", "99", "99.9", "99.99", "100")]


def line(tag, buckets):
    """buckets: (lowest value, value that percentiles give, count), in order."""
    total = sum(count for _, _, count in buckets)
    values = []
    for p in PERCENTILES:
        wanted = max(1, -(-p * total // 100))
        seen = 0
        for lowest, value, count in buckets:
            seen += count
            if count and seen >= wanted:
                values.append(lowest if p == 0 else value)
                break
    return " ".join(map(str, [tag, total, *values]))


def from_csv(directory):
    names = {}
    for row in csv.DictReader(open(directory + "/runs.csv", newline="")):
        names[row["workload"], row["label"]] = row["name"]
    lines = {}
    for row in csv.DictReader(open(directory + "/latency.csv", newline="")):
        name = names[row["workload"], row["label"]] + "/" + row["histogram"]
        key = (row["workload"], row["label"], row["repetition"], re.sub(r"[, \x00-\x1f]", "_", name))
        low, high = int(row["low"]), int(row["high"])
        lines.setdefault(key, []).append((low, (low + high) // 2, int(row["count"])))
    for key, buckets in lines.items():
        print(line(key[-1], buckets))


def words(data):
    """ZigZag LEB128, of which a ninth byte has 8 bits."""
    at = 0
    while at < len(data):
        value = shift = 0
        for byte in range(9):
            last = byte == 8 or data[at] < 0x80
            value |= (data[at] if last else data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if last:
                break
        yield value >> 1 if value % 2 == 0 else -(value >> 1) - 1


def buckets(text):
    packed = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack_from(">II", packed)
    assert cookie == 0x1C849314 and length == len(packed) - 8, "compressed header"
    data = zlib.decompress(packed[8:])
    cookie, length, offset, digits, lowest, highest, ratio = struct.unpack_from(">IIIIQQd", data)
    assert cookie == 0x1C849313 and length == len(data) - 40, "header"
    assert offset == 0 and lowest == 1 and ratio == 1.0 and highest < 2**63
    half = 1
    while 2 * half < 2 * 10**digits:
        half *= 2
    index = 0
    for word in words(data[40:]):
        if word < 0:
            index -= word
            continue
        shift = max(index // half - 1, 0)
        low = (index - shift * half) << shift
        assert low <= highest
        yield low, low + (1 << shift) - 1, word
        index += 1


def from_log(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    assert lines.pop() == "", "the last line is whole"
    assert lines[1] == "#[Histogram log format version 1.3]"
    assert re.fullmatch(r"#\[StartTime: [0-9]+\.[0-9]{3} \(seconds since epoch\), .+\]", lines[2])
    assert re.fullmatch(r"#\[BaseTime: [0-9]+\.[0-9]{3} \(seconds since epoch\)\]", lines[3])
    legend = next(i for i, text in enumerate(lines) if not text.startswith("#"))
    assert lines[legend] == '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
    before = 0.0
    for text in lines[legend + 1:]:
        tag, start, length, highest, encoded = text.split(",")
        assert re.fullmatch(r"Tag=[^,\s]+", tag)
        assert float(start) >= before and float(length) > 0
        before = float(start)
        decoded = list(buckets(encoded))
        assert abs(float(highest) - decoded[-1][1] / 1e6) < 1e-6
        print(line(tag[4:], decoded))


{"csv": from_csv, "log": from_log}[sys.argv[1]](sys.argv[2])
