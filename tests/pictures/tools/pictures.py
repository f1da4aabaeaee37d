"""The pictures in a browser: texts that overlap or are cut off, and colours inside the
page and outside of it. Prints TAP.

usage: pictures.py KINDS DIRECTORY...    result directories with plots/ and report.html
"""
import json
import pathlib
import re
import sys

import browser

WIDTHS = (400, 800, 1400)

# The boxes of all texts of an inline picture, and the picture's own.
BOXES = """(() => {
    const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
    const svg = document.querySelector("svg");
    return [box(svg), [...svg.querySelectorAll("text")].filter(t => t.textContent.trim())
        .map(t => [t.textContent, ...box(t)])];
})()"""


def show(tab, svg, width):
    """The picture itself as the page, as wide as that."""
    tab.look(width)
    tab.run(f"""document.body.style.margin = "0";
        document.body.innerHTML = {json.dumps(svg[svg.index("<svg"):])};
        document.querySelector("svg").style.cssText = "display:block;width:100%";""")


def faults(tab, svg, width):
    """What is wrong with its texts, in words."""
    show(tab, svg, width)
    frame, texts = tab.run(BOXES)
    slack = 0.002 * width
    wrong = [f"cut off: {t[0]}" for t in texts
             if t[1] < frame[0] - slack or t[2] < frame[1] - slack or
             t[3] > frame[2] + slack or t[4] > frame[3] + slack]
    for i, a in enumerate(texts):
        for b in texts[:i]:
            if min(a[3], b[3]) - max(a[1], b[1]) > slack and min(a[4], b[4]) - max(a[2], b[2]) > slack:
                wrong.append(f"overlap: {a[0]} | {b[0]}")
    return wrong


def texts_are_apart(tab, pictures):
    wrong = [f"{path} at {width}: {fault}" for path in pictures for width in WIDTHS
             for fault in faults(tab, path.read_text(), width)]
    assert not wrong, "\n# ".join(wrong[:20])


def mistakes_are_seen(tab, pictures):
    """A text moved onto another, one moved out, and one that has grown."""
    svg = pictures[0].read_text()
    place = re.search(r"translate\(([\d.]+),([\d.]+)\)", svg[svg.index("text-anchor=\"start\"") - 200:])
    x, y = place.groups()
    group = '<g transform="translate({},{})" font-size="12"><text>made up</text></g></svg>'
    for more, fault in ((group.format(x, float(y) + 3), "overlap: made up"),
                        (group.format(700, y), "cut off: made up")):
        for width in WIDTHS:
            seen = faults(tab, svg.replace("</svg>", more), width)
            assert any(s.startswith(fault) for s in seen), (more, width, seen)
    grown = svg.replace('font-size="11.00"', 'font-size="44.00"')
    assert faults(tab, grown, 800), "a font four times as large fits"


def every_kind(kinds, pictures):
    names = [path.stem for path in pictures]
    missing = [kind for kind in kinds
               if not any(n == kind or n.startswith(kind + "-") for n in names)]
    assert not missing, missing


# ---- colours ----

# In these one mark may hide another: equal lines, and slices shorter than a pixel.
HIDING = ("latency", "sweep", "thresholds", "distance", "scaling", "timeline", "tradeoff")

# The picture's pixels, of an image element or of a text.
PIXELS = """(async (source, size) => {
    const image = source instanceof HTMLImageElement ? source : new Image();
    if (image !== source)
        image.src = "data:image/svg+xml," + encodeURIComponent(source);
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = size;
    const ink = canvas.getContext("2d");
    ink.drawImage(image, 0, 0, ...size);
    return ink.getImageData(0, 0, ...size).data;
})"""

# A hash of the pixels.
HASH = """((data) => {
    let hash = 0;
    for (const pixel of new Uint32Array(data.buffer))
        hash = Math.imul(hash ^ pixel, 0x01000193);
    return hash;
})"""

# Of each entry of the key the strongest colour of its sample, and how many pixels above
# the key have it.
SAMPLES = """((data, width, entries) => {
    const at = (x, y) => [0, 1, 2].map(c => data[4 * (y * width + x) + c]);
    const strength = (c) => Math.max(...c) - Math.min(...c);
    const top = Math.min(...entries.map(e => e[2]));
    return entries.map(([text, x, y, bottom]) => {
        let best = [0, 0, 0], n = 0;
        for (let i = Math.max(0, x - 42); i < x - 4; i++)
            for (let j = y; j < bottom; j++)
                if (strength(at(i, j)) > strength(best))
                    best = at(i, j);
        for (let k = 0; k < 4 * width * top; k += 4)
            n += Math.abs(data[k] - best[0]) < 10 && Math.abs(data[k + 1] - best[1]) < 10 &&
                Math.abs(data[k + 2] - best[2]) < 10;
        return [text, strength(best), n];
    });
})"""


def entries_of(tab, svg, size):
    """Key entries: texts behind a sample, which begin at its right end."""
    show(tab, svg, size[0])
    texts = {t[0]: t[1:] for t in tab.run(BOXES)[1]}
    found = []
    for part in re.split(r"<title>\w+_plot_\d+\w*</title>", svg)[1:]:
        match = re.search(r'font-size="11.00"  text-anchor="start">\s*<text>(.*?)</text>', part)
        if match and match[1] in texts and texts[match[1]][0] > 50:
            x, y, _, bottom = texts[match[1]]
            found.append([match[1], round(x), round(y), round(bottom)])
    return found


def same_colours(tab, blank, directory):
    """Inside the page each picture is what it is outside, and its key has the colours of
    its marks."""
    alts = tab.run("[...document.querySelectorAll('figure > img')].map(i => [i.alt, "
                   "i.closest('figure').querySelector('b').textContent])")
    sources = tab.run("[...document.querySelectorAll('figure > img')]"
                      ".map(i => decodeURIComponent(i.src.split(',').slice(1).join(',')))")
    files = {p.read_text(): p for p in (directory / "plots").glob("*.svg")}
    checked = 0
    assert len(sources) == len(files)
    for i, source in enumerate(sources):
        name = files[source].stem
        assert alts[i][0] == alts[i][1] != name, alts[i]
        size = [int(n) for n in re.search(r'viewBox="0 0 (\d+) (\d+)"', source).groups()]
        entries = entries_of(blank, source, size)
        inside = tab.run(f"{PIXELS}(document.querySelectorAll('figure > img')[{i}], {size})"
                         f".then(d => [{HASH}(d), {SAMPLES}(d, {size[0]}, {json.dumps(entries)})])")
        outside = blank.run(f"{PIXELS}({json.dumps(source)}, {size}).then({HASH})")
        assert inside[0] == outside, f"{name}: other colours inside the page"
        coloured = [(text, marks) for text, strength, marks in inside[1] if strength >= 40]
        hidden = [text for text, marks in coloured if marks < 5]
        assert not hidden or name.startswith(HIDING), f"{name}: no mark has the colour of {hidden}"
        checked += len(coloured) - len(hidden)
    return checked


def colours(program, directories):
    checked = 0
    for directory in directories:
        tab = program.open((directory / "report.html").resolve().as_uri())
        checked += same_colours(tab, program.open("about:blank"), directory)
        tab.look(1400, dark=True, media="print")
        assert tab.run("getComputedStyle(document.querySelector('figure > img')).filter") == "none"
    assert checked > 100, checked


def main(kinds, directories):
    pictures = sorted(p for d in directories for p in (d / "plots").glob("*.svg"))
    failed = 0
    with browser.Browser() as program:
        tab = program.open("about:blank")
        for number, (name, run) in enumerate((
                ("a picture of every kind", lambda: every_kind(kinds, pictures)),
                ("no text overlaps another or is cut off", lambda: texts_are_apart(tab, pictures)),
                ("texts that do are seen", lambda: mistakes_are_seen(tab, pictures)),
                ("colours of key and marks, inside the page as outside",
                 lambda: colours(program, directories))), 1):
            try:
                run()
                print(f"ok {number} - {name}")
            except Exception as error:  # whatever it is, the check has failed
                failed += 1
                print(f"not ok {number} - {name}\n# {type(error).__name__}: {str(error)[:3000]}")
    print("# looked at")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1].split(), [pathlib.Path(d) for d in sys.argv[2:]]) else 0)
