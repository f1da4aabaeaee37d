"""Compares what the public headers and the man page say with tests/contract/functions.def.

usage: pages.py headers|symbols|callers|errors|man TEST_CONTRACT HEADER...

Each prints what differs, and fails then. The headers are the public ones; TEST_CONTRACT is the
program that has the table."""
import re
import subprocess
import sys

SYMBOLS = "affinity/schedbench.symbols"
MAN = "affinity/schedbench.3"
BEGIN, END = '.\\" The table of tests/contract/functions.def.', '.\\" End of the table.'


def without_macros(text):
    """C alone: no preprocessor lines, and nothing that is for C++ or for tests."""
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^#ifdef (__cplusplus|SB_TEST_DELAYS)\n.*?^#(endif|else)\n", "", text,
                  flags=re.M | re.S)
    return re.sub(r"^#.*$", "", text, flags=re.M)


def functions_of(header):
    """(name, comment, is inline) of each function, in order: its comment is the last before it."""
    with open(header, encoding="utf-8") as file:
        text = without_macros(file.read())
    comment, depth = "", 0
    token = re.compile(r"/\*.*?\*/|[{}]|([\w *]*?)\b(sb_\w+)\([^;{}]*\)\s*(?=[;{])", re.S)
    for match in token.finditer(text):
        found = match.group(0)
        if found.startswith("/*"):
            if depth == 0:
                comment = " ".join(re.sub(r"^\s*(/\*|\*)|\*/", " ", found, flags=re.M).split())
        elif found == "{":
            depth += 1
        elif found == "}":
            depth -= 1
        elif depth == 0 and match.group(1).strip():
            yield match.group(2), comment, "static inline" in match.group(1)


def main():
    what, program, *headers = sys.argv[1:]
    functions = [each for header in headers for each in functions_of(header)]
    comments = {name: comment for name, comment, _ in functions}
    names = [name for name, _, _ in functions]
    said = {}
    for line in subprocess.run([program, "--callers"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout.splitlines():
        name, callers, errors = line.split("\t")
        said[name] = callers, errors.split()
    wrong = []
    if what == "headers":
        wrong = [f"{name} is in the headers alone" for name in names if name not in said]
        wrong += [f"{name} is in functions.def alone" for name in said if name not in names]
    elif what == "symbols":
        with open(SYMBOLS, encoding="utf-8") as file:
            symbols = set(file.read().split())
        outside = {name for name, _, inline in functions if not inline}
        wrong = [f"{name} is in the headers or in {SYMBOLS} alone"
                 for name in sorted(symbols ^ outside)]
    elif what == "callers":
        wrong = [f"{name}: its comment lacks 'Callers: {callers}'"
                 for name, (callers, _) in said.items()
                 if f"Callers: {callers}" not in comments.get(name, "")]
    elif what == "errors":
        for name, (_, errors) in said.items():
            text = comments.get(name, "")
            # "The same" refers to the function before it; a name to that function.
            if text.startswith("The same"):
                text += comments[names[names.index(name) - 1]]
            for other in re.findall(r"sb_\w+|(?<=error of )\w+", text):
                text += comments.get(other, comments.get("sb_scheduler_" + other, ""))
            wrong += [f"{name}: its comment lacks {error}" for error in errors
                      if error not in text]
    else:
        table = subprocess.run([program, "--man"], stdout=subprocess.PIPE, text=True,
                               check=True).stdout
        with open(MAN, encoding="utf-8") as file:
            page = file.read()
        between = page.split(BEGIN + "\n")[-1].split(END)[0]
        if between.replace("\\-", "-") != table:
            wrong = [f"{MAN}: between the two comments that name the table stands", between,
                     "not", table]
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
