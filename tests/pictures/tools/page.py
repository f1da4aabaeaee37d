"""The page in a browser. Prints TAP.

usage: page.py make RESULT.json DIRECTORY SERIES    makes up a result of hostile texts
       page.py check PAGE.html SERIES               looks at the page on it
"""
import copy
import json
import pathlib
import sys

import browser

HOSTILE = "<script>alert(1)</script>\"'`]]></svg></style><img src=x onerror=alert(2)>&lt;"

PICTURE = """<?xml version="1.0"?>
<!-- <svg onload="alert(3)"> -->
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 width='300' height='100' onload="alert(4)" style="position:fixed;top:0">
<title>made up</title>
<defs><circle id='dot' r='3'/><linearGradient id="fade"><stop offset='1' stop-color='red'/></linearGradient></defs>
<script>alert(5)</script><style>main{display:none}</style>
<use xlink:href='#dot' x='9' y='9'/><rect width = '9' height='9' fill='url(#fade)'/>
<use href="http://nowhere.invalid/a.svg#x"/><image xlink:href="http://nowhere.invalid/a.png" width="9"/>
<rect id='far' fill='URL(http://nowhere.invalid/b)' stroke="\\75rl(http://nowhere.invalid/c)" width='1' height='1'/>
<foreignObject><p>gone</p></foreignObject><a href="javascript:alert(6)"><text>gone</text></a>
<text x='9' y='50'>&lt;/svg&gt;&lt;script&gt;alert(7)<![CDATA[<script>alert(8)</script>]]></text>
</svg>
"""

BROKEN = "<svg><g></svg><script>alert(10)</script>"


# ---- a result made up ----

def vary(row, i):
    """The row of another series; every fifth has no send_to_step."""
    own = row["sched_bench"]
    own["series"] = i
    own["ns_per_op"] = row["real_time"] = 100 + (i * 37) % 101 + own["row"]
    if i % 5 == 0:
        for name in [n for n in own if n.startswith("send_to_step")]:
            del own[name]
    if i % 7 == 0:
        own["valid"], own["reason"] = "suspect", f"made up: {HOSTILE} is {i}"
    return row


def settings(i):
    """Two that are swept: one a number, one a text."""
    return [{"name": "spin-yield", "text": str(2 ** (i % 12)),
             "number": 2 ** (i % 12), "swept": True},
            {"name": "kind" + HOSTILE, "text": "abc"[i % 3] + HOSTILE, "swept": True}]


def make(source, directory, count):
    """One series of the source as many, with texts that nobody should believe."""
    result = json.load(open(source))
    own = result["sched_bench"]
    rows = [r for r in result["benchmarks"] if r["sched_bench"]["series"] == 0]
    series = own["series"][0]
    series["workload"] = "made-up " + HOSTILE
    result["benchmarks"] = [vary(copy.deepcopy(r), i) for i in range(count) for r in rows]
    own["series"] = [dict(copy.deepcopy(series), settings=settings(i)) for i in range(count)]
    own["invalid"] = []
    own["meta"]["machine"]["cpu_model"] = HOSTILE
    plots = pathlib.Path(directory) / "plots"
    plots.mkdir(parents=True)
    (pathlib.Path(directory) / "result.json").write_text(json.dumps(result))
    (plots / "cost.svg").write_text(PICTURE)
    (plots / "steals-a.svg").write_text(PICTURE)
    (plots / "spins-broken.svg").write_text(BROKEN)


# ---- what is to be seen ----

COLUMN = """((table, column) => [...document.querySelectorAll(table + " tbody tr")]
    .map(row => row.cells[column].dataset.value))"""


def texts(page, table, column):
    """data-value of a column, from top to bottom; None: it has none."""
    return page.run(f"{COLUMN}({json.dumps(table)}, {column})")


def column_of(page, table, name):
    """Where the column stands whose head begins so."""
    return page.run(f"""[...document.querySelectorAll({json.dumps(table)} + " thead th")]
        .findIndex(head => head.textContent.startsWith({json.dumps(name)}))""")


def click(page, table, column):
    """On the column's head; returns its aria-sort."""
    return page.run(f"""(() => {{
        const head = document.querySelectorAll({json.dumps(table)} + " thead th")[{column}];
        head.querySelector("button").click();
        return head.getAttribute("aria-sort");
    }})()""")


def in_order(values, down):
    """Numbers in order, and after them what is empty."""
    full = [float(v) for v in values if v != ""]
    return (len(set(full)) > 2 and values[len(full):] == [""] * (len(values) - len(full)) and
            full == sorted(full, reverse=down))


def no_overflow(page):
    """Nothing is wider than the window, with everything unfolded or not."""
    wide = page.run("""(() => {
        const root = document.documentElement;
        const before = root.scrollWidth - root.clientWidth;
        const closed = [...document.querySelectorAll("details:not([open])")];
        closed.forEach(d => d.open = true);
        const after = root.scrollWidth - root.clientWidth;
        closed.forEach(d => d.open = false);
        return [before, after];
    })()""")
    assert max(wide) <= 0, wide


def widths(tab):
    for width in (400, 1400):
        for dark in (False, True):
            tab.look(width, dark=dark)
            no_overflow(tab)
    tab.look(400)
    assert tab.run("""(() => {
        const box = document.querySelector("#headline .box");
        return box.scrollWidth > box.clientWidth;
    })()"""), "the widest table should scroll in its box at 400 pixels"
    tab.look(1400)


def sorts_numbers(tab):
    column = column_of(tab, "#headline", "ns_per_op")
    assert not in_order(texts(tab, "#headline", column), False), "sorted from the start"
    assert click(tab, "#headline", column) == "ascending"
    assert in_order(texts(tab, "#headline", column), False)
    assert click(tab, "#headline", column) == "descending"
    assert in_order(texts(tab, "#headline", column), True)


def sorts_empty_cells_last(tab):
    column = column_of(tab, "#headline", "send_to_step_ns_p99")
    for down in (False, True):
        assert click(tab, "#headline", column) == ("descending" if down else "ascending")
        values = texts(tab, "#headline", column)
        empty = values.count("")
        assert 0 < empty < len(values), values
        assert values[-empty:] == [""] * empty, values


def sorts_settings(tab):
    column = column_of(tab, "#headline", "spin-yield")
    click(tab, "#headline", column)
    values = [float(v) for v in texts(tab, "#headline", column)]
    assert values == sorted(values) and values[0] == 1 and values[-1] > 10, values
    assert tab.run("""[...document.querySelectorAll("#headline th[aria-sort]")]
        .filter(head => head.getAttribute("aria-sort") !== "none").length""") == 1


def sorts_by_keyboard(tab):
    column = column_of(tab, "#headline", "ns_per_op")
    tab.run(f"""document.querySelectorAll("#headline thead button")[{column}].focus()""")
    tab.press("Enter")
    assert in_order(texts(tab, "#headline", column), False)


def one_row_each(tab, count):
    assert len(texts(tab, "#headline", 0)) == count
    heads = tab.run("""[...document.querySelectorAll("#headline thead th")]
        .slice(0, 3).map(head => head.textContent)""")
    assert heads == ["series", "spin-yield", "kind" + HOSTILE], heads


TIP = """(() => {
    const tip = document.getElementById("tip");
    const at = tip.getBoundingClientRect();
    return tip.hidden ? null : [tip.textContent, at.left >= 0 && at.right <= innerWidth &&
        at.top >= 0 && at.bottom <= innerHeight];
})()"""


def says(tab, *words):
    tip = tab.run(TIP)
    assert tip and tip[1], tip
    for word in words:
        assert word in tip[0], (word, tip)


def definitions_on_hover(tab):
    column = column_of(tab, "#headline", "ns_per_op")
    for width in (400, 1400):
        tab.look(width)
        at = tab.run(f"""(() => {{
            const cell = document.querySelector("#headline tbody tr").cells[{column}];
            cell.scrollIntoView({{ block: "center", inline: "end" }});
            const at = cell.getBoundingClientRect();
            return [at.left + at.width / 2, at.top + at.height / 2];
        }})()""")
        tab.point(1, 1)
        tab.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")
        assert tab.run(TIP) is None
        tab.point(*at)
        says(tab, "ns_per_op", "wall time per operation", "median of")


def definitions_on_focus(tab):
    column = column_of(tab, "#headline", "ops_per_s")
    tab.run(f"""document.querySelectorAll("#headline thead button")[{column}].focus()""")
    says(tab, "operations per second of wall time")
    tab.press("ArrowDown")
    assert tab.run("document.activeElement.tagName") == "TD"
    says(tab, "operations per second of wall time", "median of")


def units(tab):
    """Each number says its unit, or its column's head does."""
    bare = tab.run("""[...document.querySelectorAll("main td.n[data-value]")].filter(cell => {
        const text = cell.textContent;
        const head = cell.closest("table").tHead.rows[0].cells[cell.cellIndex];
        return cell.dataset.value !== "" && !/[a-z%]/i.test(text) && !head.querySelector("small") &&
            !cell.parentElement.cells[0].querySelector("small") &&
            !/^(worker|repetition|pairs|node|spin-yield)/.test(head.textContent);
    }).map(cell => cell.closest("section").id + ": " + cell.textContent)""")
    assert not bare, bare[:5]


def pictures(tab):
    """Those that can be drawn are, in their proportions; nothing of them is the page's."""
    seen = tab.run("""Promise.all([...document.querySelectorAll("figure > img")].map(image =>
        image.decode().catch(() => 0).then(() =>
            [image.alt, image.naturalWidth, Math.round(image.width / image.height)])))""")
    assert seen[:2] == [["cost", 300, 3], ["steals-a", 300, 3]], seen
    assert [image[:2] for image in seen[2:]] == [["spins-broken", 0]], seen
    own = tab.run("""[document.querySelectorAll("figcaption").length,
        document.querySelectorAll("#dot, #fade, figure svg").length,
        getComputedStyle(document.querySelector("main")).display]""")
    assert own == [3, 0, "block"], own


def colours(tab):
    """Ink on paper is told apart in both, and the two differ."""
    def look(dark):
        tab.look(1400, dark=dark)
        return tab.run("""(() => {
            const grey = (c) => c.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3;
            const style = getComputedStyle(document.body);
            return [grey(style.backgroundColor), grey(style.color)];
        })()""")
    light, dark = look(False), look(True)
    assert light[0] - light[1] > 150 and dark[1] - dark[0] > 150, (light, dark)


def inert(tab):
    assert tab.run("""[...document.querySelectorAll("script, style, foreignObject, iframe, a, img, object")]
        .filter(e => !e.matches("figure > img")).map(e => e.tagName)""") == ["STYLE", "SCRIPT"]
    assert tab.run("""[...document.querySelectorAll("*")].filter(e => [...e.attributes]
        .some(a => a.name.startsWith("on") || (a.name === "style" && e.id !== "tip"))).length""") == 0
    assert tab.run(f"document.body.textContent.includes({json.dumps(HOSTILE)})")


def no_complaints(tab):
    assert tab.complaints == [], tab.complaints
    outside = [url for url in tab.requests if not url.startswith("data:image/svg+xml,")]
    assert len(outside) == 1, outside


def policy(tab):
    """What was not in the page from the start does not run."""
    tab.run("""(() => {
        const script = document.createElement("script");
        script.textContent = "window.wasRun = true";
        document.body.append(script);
        const image = document.createElement("img");
        image.src = "http://nowhere.invalid/x.png";
        document.body.append(image);
    })()""")
    assert not tab.run("window.wasRun === true")
    tab.run("fetch('http://nowhere.invalid/').catch(() => 0)")
    assert len(tab.complaints) >= 3 and all("Content Security Policy" in c
                                            for c in tab.complaints), tab.complaints


def printed(tab):
    tab.look(1400, dark=True, media="print")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.run("getComputedStyle(document.querySelector('.box')).overflow") == "visible"
    tab.look(1400)


def without_script(plain, count):
    assert plain.call("Runtime.evaluate", expression="1") is not None
    root = plain.call("DOM.getDocument")["root"]["nodeId"]

    def number(selector):
        return len(plain.call("DOM.querySelectorAll", nodeId=root,
                              selector=selector)["nodeIds"])
    assert number("#headline tbody tr") == count
    assert number("button") == 0, "a button that does nothing"
    assert number("#headline thead abbr[title]") > 2


def check(path, count):
    failed = 0
    number = 0
    url = pathlib.Path(path).resolve().as_uri()
    with browser.Browser() as program:
        tab = program.open(url)
        for name, run in (
                ("a row for each series, swept settings as columns", lambda: one_row_each(tab, count)),
                ("texts from outside are text", lambda: inert(tab)),
                ("pictures: only what draws, identifiers of their own", lambda: pictures(tab)),
                ("nothing is too wide at 400 and 1400 pixels", lambda: widths(tab)),
                ("light and dark", lambda: colours(tab)),
                ("a click sorts, a second the other way", lambda: sorts_numbers(tab)),
                ("empty cells are last both ways", lambda: sorts_empty_cells_last(tab)),
                ("settings sort by their number", lambda: sorts_settings(tab)),
                ("the keyboard sorts", lambda: sorts_by_keyboard(tab)),
                ("definitions under the mouse", lambda: definitions_on_hover(tab)),
                ("definitions with the keyboard", lambda: definitions_on_focus(tab)),
                ("every number has its unit", lambda: units(tab)),
                ("on paper it is white, and nothing scrolls", lambda: printed(tab)),
                ("no complaint, no dialogue, no request but the page", lambda: no_complaints(tab)),
                ("the policy stops scripts, pictures and requests", lambda: policy(tab)),
                ("without script it is there",
                 lambda: without_script(program.open(url, scripts=False), count))):
            number += 1
            try:
                run()
                print(f"ok {number} - {name}")
            except Exception as error:  # whatever it is, the check has failed
                failed += 1
                print(f"not ok {number} - {name}\n# {type(error).__name__}: {str(error)[:600]}")
    print("# looked at")
    return failed


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sys.exit(1 if check(sys.argv[2], int(sys.argv[3])) else 0)
