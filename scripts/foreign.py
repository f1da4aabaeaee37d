#!/usr/bin/env python3
"""foreign.py - a part of the lint: text from outside is not printed as it is.

Reads the C sources that are named. Text that came from a file, the command line or the system is
followed through local variables and parameters to the functions that print; each place where it
arrives without one of the functions of results/text/escape.h is printed. Status 1: there is one.
"""
import re
import sys

# Fields of structs that hold such text, the functions that return it, and those that write it into
# one of their arguments.
FIELDS = ("answer argv baseline calibration candidate cpu_model directory found host_name label "
          "machine_name mend note overall path profile reason stderr_text text validated_on why "
          "word workload")
NAMED = "d dimension fact file finding given job list machine place row s setting stored thief w"
NAMED_FIELDS = "date file function key machine name source"
VALUED = "d dimension fact"
GIVE = ("getenv json_string_value sb_answer_of sb_page_machine sb_page_result_name "
        "sb_page_workloads sb_program_line sb_ranked_settings sb_result_fact sb_series_option "
        "sb_store_column sb_text_copy")
FILL = {"sb_exemplar_explain": 0, "sb_gate_describe": 1, "sb_page_number": 0, "sb_page_range": 0,
        "sb_series_name": 0, "sb_series_title": 0}

# Functions that print, with the first argument that counts, and those that copy text.
PRINT = {"printf": 1, "fprintf": 2, "fputs": 0, "puts": 0, "fwrite": 0, "sb_table_cell": 2}
COPY = {"snprintf": 3, "asprintf": 2, "strcpy": 1, "memcpy": 1}

# Functions that may be given it, because they escape it, and those that return something else.
ESCAPE = (r"sb_terminal_text sb_csv_put_\w+ sb_html sb_put_markdown sb_md_put_cell sb_put_xml "
          r"sb_put_annotation sb_put_openmetrics sb_put_shell sb_put_sbatch sb_plot_quote "
          r"sb_trace_put_text sb_ini_put_value sb_put_percent_encoded sb_help_wrapped "
          r"sb_answer_put sb_fail\w* sb_note json_\w+")
OTHER = (r"sb_\w+_find sb_\w+_count sb_\w+_spread sb_\w+_kind_name sb_cause_name sb_parse_\w+ "
         r"sb_human\w* sb_exact sb_file_\w+ f?open\w* str(?:len|n?cmp|r?chr|c?spn|casecmp|pbrk|tod) "
         r"isnan isfinite sizeof")
# Of single files: functions that escape for a format that no other file has, or whose stream is
# a text in memory that is escaped where it is printed, or whose text is not from outside.
OWN = """
results/convert/benchstat.c put_part put_line put_name
results/convert/hlog.c put_word put_times
results/compare/fleet.c swept_text sb_fleet_answer
results/compare/findings.c put_name put_workload sb_findings_answer
results/files/answer.c put_reason put_row
results/files/wrap.c sb_put_wrapped
results/ledger/exemplars.c say_preempted
results/page/page.c put_count sb_page_machine sb_page_workloads
results/page/markdown.c sb_write_markdown
results/page/markdown_pictures.c relative
results/plots/plot.c put_fact
results/plots/view.c distinction put_result_name sb_plot_put_common
results/record/series.c sb_series_name
harness/cli/job_show.c show_job
harness/compare/gate_setup.c sb_gate_setup_text
harness/compare/pairs.c keep_words
harness/fleet/machines.c status_of
harness/guide/complete.c offer
harness/guide/names_text.c sb_more_of_option
harness/guide/topics.c sb_topic_put
harness/sweep/sweep.c make_label
harness/verbs/new.c make_workload
"""

CALL = re.compile(r"\b([a-z_]\w*)\s*\(")
ASSIGNED = re.compile(r"\b(\w+)\s*(?<![=!<>])=(?!=)\s*([^;{}]*);")
FUNCTION = re.compile(r"^(static )?[A-Za-z_][^;={}]*?\b(\w+)\(([^;{}]*)\)\n\{\n(.*?)^\}", re.M | re.S)


def any_of(names):
    return "(?:" + "|".join(names.split()) + ")"


CLEAN = re.compile(rf"\b{any_of(ESCAPE + ' ' + OTHER)}\s*\(")
FOREIGN = re.compile(
    rf"(?:->|\.){any_of(FIELDS)}\b(?!\s*[(.])(?!->(?!name\b))|\b{any_of(GIVE)}\s*\("
    rf"|\b{any_of(NAMED)}(?:\[[^]]*\])?(?:->|\.){any_of(NAMED_FIELDS)}\b(?!\s*[(.])(?!->)"
    rf"|\b{any_of(VALUED)}(?:\[[^]]*\])?(?:->|\.)value\b")


def without_texts(code):
    """Comments and the insides of literals are blanks."""
    def blank(match):
        text = match.group()
        ends = 1 if text[0] in "\"'" else 0
        return text[:ends] + re.sub(r"[^\n]", " ", text[ends:len(text) - ends]) + text[len(text) - ends:]

    return re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', blank, code, flags=re.S)


def arguments(code, start):
    """Of the call whose parenthesis is there: the arguments, and where it ends."""
    depth, found, begin = 0, [], start + 1
    for i in range(start, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0 or (depth == 1 and code[i] == ","):
            found.append(code[begin:i])
            begin = i + 1
        if depth == 0:
            return found, i + 1
    return found, len(code)


def without_clean(code):
    while match := CLEAN.search(code):
        code = code[:match.start()] + "0" + code[arguments(code, match.end() - 1)[1]:]
    # What decides between two texts is none.
    return re.sub(r"[^?,;]*\?", "", code)


class Function:
    def __init__(self, path, line, is_static, name, parameters, body):
        self.path, self.line, self.body = path, line, body
        self.name = (path if is_static else "", name)
        self.parameters = [p.split()[-1].lstrip("*") if re.search(r"\bchar \*\w+$", p) else None
                           for p in re.sub(r"\s+", " ", parameters).split(",")]
        self.calls = [(m.start(), m.group(1), arguments(body, m.end() - 1)[0]) for m in CALL.finditer(body)]
        self.assigned = ASSIGNED.findall(body)

    def holders(self, holds):
        """The local variables that hold it as well."""
        names = set()

        def has(code):
            code = without_clean(code)
            return holds(code) or any(re.search(rf"(?<![\w.>]){n}\b(?!\s*(?:->|\.|\())", code) for n in names)

        while True:
            before = len(names)
            names |= {name for name, value in self.assigned if has(value)}
            for _, name, args in self.calls:
                if name in COPY and any(map(has, args[COPY[name]:])):
                    names |= set(re.findall(r"[a-z_]\w*", args[0])[:1])
            if len(names) == before:
                return has

    def prints(self, holds, sinks):
        """Where it is printed, and by which call."""
        has = self.holders(holds)
        for at, name, args in self.calls:
            if CLEAN.match(name + "("):
                continue
            for i, arg in enumerate(args):
                taken = sinks.get((self.path, name), sinks.get(("", name), ()))
                if (i >= PRINT[name] if name in PRINT else i in taken) and has(arg):
                    yield at, f"{name}: {' '.join(arg.split())}"


def read(paths):
    own = {tuple(line.split()[:1] + [name]) for line in OWN.split("\n") for name in line.split()[1:]}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            code = without_texts(file.read())
        for match in FUNCTION.finditer(code):
            if not CLEAN.match(match.group(2) + "(") and (path, match.group(2)) not in own:
                yield Function(path, code.count("\n", 0, match.start(4)) + 1, *match.groups())


def find_sinks(functions):
    """The functions that print one of their parameters, and which."""
    sinks = {}
    while True:
        before = sum(map(len, sinks.values()))
        for f in functions:
            for i, name in enumerate(f.parameters):
                if name and any(f.prints(re.compile(rf"(?<![\w.>]){name}\b(?!\s*\()").search, sinks)):
                    sinks.setdefault(f.name, set()).add(i)
        if sum(map(len, sinks.values())) == before:
            return sinks


def main():
    functions = list(read(sys.argv[1:]))
    sinks = find_sinks(functions)
    status = 0
    for f in functions:
        filled = {re.findall(r"\w+", args[FILL[name]])[0] for _, name, args in f.calls if name in FILL}
        local = "|".join(filled) or "(?!)"
        holds = re.compile(rf"{FOREIGN.pattern}|(?<![\w.>])(?:{local})\b").search
        for at, what in f.prints(holds, sinks):
            print(f"{f.path}:{f.line + f.body.count(chr(10), 0, at)}: {what}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
