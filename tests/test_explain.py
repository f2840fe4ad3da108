#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""`weft explain`: colour where it belongs, a graph that graphviz takes, and the page: well-formed, nothing fetched,
all of the plan on it; opened in a real headless browser where chromium is installed, in light and dark."""
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

WEFT = os.path.abspath(sys.argv[1])
SOFTMAX = "y = exp(x - max(x, axis=1, keepdims=True)); sum(y/sum(y, axis=1, keepdims=True) @ w + 2*3, axis=0)"
INPUTS = ["x=f64[100,80]", "w=f64[80,60]"]
passed = failed = skipped = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}\n{str(detail)[:3000]}")


def skip(what):
    global skipped
    skipped += 1
    print(f"skipped: {what}")


def weft(*argv, **env):
    p = subprocess.run([WEFT, *argv], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
                       env={**os.environ, **env})
    return p.returncode, p.stdout, p.stderr


def test_terminal():
    plain = weft("explain", SOFTMAX, *INPUTS, LC_ALL="C")[1]
    check("no colour into a pipe", "\033" not in plain, plain)
    check("ASCII without a UTF-8 locale", plain.isascii() and "+- step 0: inner" in plain, plain)
    drawn = weft("explain", SOFTMAX, *INPUTS, LC_ALL="C.UTF-8")[1]
    check("frames with one", "╭─ step 0: inner, 100 rows, 80 columns" in drawn, drawn)
    check("reasons as sentences", "A matrix product reads it many times" in plain, plain)
    always = weft("explain", "--color=always", SOFTMAX, *INPUTS, LC_ALL="C", NO_COLOR="1")[1]
    check("--color=always", "\033[" in always)
    check("colour changes no text", re.sub("\033\\[[0-9]*m", "", always) == plain, always)
    check("--color=sometimes", weft("explain", "--color=sometimes", "x")[0] == 2)
    for env, want in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        check(f"colour on a terminal with {env}", ("\033[" in on_terminal(env)) == want)


def on_terminal(env):
    master, slave = os.openpty()
    p = subprocess.Popen([WEFT, "explain", "--plan", "x+1"], stdout=slave, stdin=subprocess.DEVNULL,
                         env={k: v for k, v in {**os.environ, "TERM": "xterm", **env}.items()
                              if k != "NO_COLOR" or env.get(k)})
    p.wait(timeout=60)
    os.close(slave)
    text = os.read(master, 65536).decode(errors="replace")
    os.close(master)
    return text


def test_code_names():
    code, out, err = weft("explain", "--llvm", "sqrt(x*y+x)")
    if "not available" in out + err:
        return skip("no LLVM, no code")
    check("values named after nodes", re.search(r"%n3\.mul\.a = fmul <\d+ x double> %n1\.load\.a, %n2\.load\.a", out), out)
    check("no debug metadata", "!dbg" not in out and "\n!" not in out, out)
    out = weft("explain", "--asm", "--isa", "avx512", "sqrt(x*y+x)")[1] if "x86" in os.uname().machine else ""
    if out:
        check("instructions behind their operation", re.search(r"# n5\.sqrt\n\s+vsqrtpd", out), out)
        check("no line tables", ".loc" not in out and ".debug" not in out, out)


def test_reasons():
    cases = {"sin(x)": ["root"], "x@x": ["root"], "(x@x)+(x@x).T": ["matmul", "root"],
             "exp(x)@x": ["read by matmul", "root"], "sort(x*2)": ["read by a call", "root"],
             "x/sum(x)": ["reduction read over another space", "root"]}
    for text, want in cases.items():
        j = json.loads(weft("explain", "--json", text, "x=f64[500,500]")[1])
        got = [m["why"] for s in j["steps"] for m in s["makes"]]
        check(f"reasons of {text}", got == want, got)
        check(f"sentences of {text}", all(m["because"].endswith(".") for s in j["steps"] for m in s["makes"]))


def test_dot():
    text = weft("explain", "--dot", SOFTMAX, *INPUTS)[1]
    check("digraph", text.startswith("digraph weft {") and text.rstrip().endswith("}"), text)
    if not shutil.which("dot"):
        return skip("graphviz is not installed")
    p = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=60)
    check("graphviz draws it", p.returncode == 0 and "<svg" in p.stdout and "true_divide" in p.stdout, p.stderr)


# ---- the page -------------------------------------------------------------------------------------------------
class Page(html.parser.HTMLParser):
    VOID = {"meta", "br", "link", "img"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.bad, self.refs = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.refs += [v for k, v in attrs if k in ("src", "href", "xlink:href", "action", "data", "poster")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(tag)


def classes(page, tag, name):
    return sum(t == tag and name in a.get("class", "").split() for t, a in page.tags)


def test_page(path):
    code, out, err = weft("explain", "--html", path, SOFTMAX, *INPUTS)
    check("the page is written", code == 0 and not out, err)
    text = open(path, encoding="utf-8").read()
    page = Page()
    page.feed(text)
    check("well-formed", not page.open and not page.bad, (page.open, page.bad))
    check("nothing is fetched", not page.refs and not re.search(r"https?:|@import|url\((?!#)", text.replace("url(#", "")), page.refs)
    j = json.loads(weft("explain", "--json", SOFTMAX, *INPUTS)[1])
    check("a frame a step", text.count('<g class="step"><rect') == len(j["steps"]))
    check("as written: two numbers and their product", text.count(">literal</text>") == 2 and ">*</text>" in text)
    nodes = weft("explain", "--ir", SOFTMAX, *INPUTS)[1].count(" = ")
    boxes = sum(t == "g" and "box" in a.get("class", "").split() and "data-n" in a for t, a in page.tags)
    check("a box a node", boxes == nodes, (boxes, nodes))
    check("a bar a temporary", classes(page, "g", "temp") == len(j["temporaries"]))
    for s in j["steps"]:
        for m in s["makes"]:
            check("why: " + m["why"], m["because"] in text)
    check("measured", "Fastest of five runs" in text and re.search(r"\d\.\d{3} ms", text), text[-3000:])
    if "Nothing of this plan is compiled" not in text:
        check("IR and assembly side by side", text.count("<h3>LLVM IR</h3>") == text.count("<h3>assembly</h3>") >= 2)
        check("lines belong to nodes", text.count('<span class="o" data-n=') > 40)
    hostile = weft("explain", "--html", "-", "x['<script>alert(1)</script>']")
    check("what cannot be parsed makes no page", hostile[0] == 2 and not hostile[1])
    out = weft("explain", "--html", "-", "x[0] <  1 & (x[1]>2)")[1]
    check("what HTML reserves is escaped", "&lt;  1 &amp; (x[1]&gt;2)" in out and "<  1" not in out)
    check("a folder that is not there", weft("explain", "--html", "/nonexistent/a.html", "x")[0] != 0)
    big = weft("explain", "--html", "-", "x+1", "x=f64[1000000000]")[1]
    check("what does not fit is not run", "Not run: inputs and results are larger than 1 GiB" in big)


def png_colours(path):
    """The colours of a PNG, how often each; rows undone by their filters."""
    data = open(path, "rb").read()
    at, width, depth, body = 8, 0, 0, b""
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
            depth = {2: 3, 6: 4}[colour]
        if kind == b"IDAT":
            body += data[at + 8:at + 8 + n]
        at += 12 + n
    raw, stride, before, count = zlib.decompress(body), width * depth, None, {}
    for y in range(0, height):
        line = raw[y * (stride + 1):(y + 1) * (stride + 1)]
        row = unfilter(line[0], bytearray(line[1:]), before or bytearray(stride), depth)
        before = row
        if y % 8 == 0:
            for x in range(0, stride, depth * 4):
                c = bytes(row[x:x + 3])
                count[c] = count.get(c, 0) + 1
    return count


def unfilter(kind, row, up, d):
    for i in range(len(row)):
        a, b = row[i - d] if i >= d else 0, up[i]
        if kind == 1:
            row[i] = (row[i] + a) & 255
        elif kind == 2:
            row[i] = (row[i] + b) & 255
        elif kind == 3:
            row[i] = (row[i] + (a + b) // 2) & 255
        elif kind == 4:
            c = up[i - d] if i >= d else 0
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            row[i] = (row[i] + (a if pa <= pb and pa <= pc else b if pb <= pc else c)) & 255
    return row


def browse(browser, path, *options):
    with tempfile.TemporaryDirectory() as profile:
        p = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            "--user-data-dir=" + profile, "--window-size=640,800", *options, "file://" + path],
                           capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    return p.stdout, p.stderr


def test_browser(folder, path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        return skip("chromium is not installed")
    dom, err = browse(browser, path + "#n4", "--dump-dom")
    if "</html>" not in dom:
        return skip("chromium does not start here")
    hot = re.findall(r'<(\w+)[^>]*class="[^"]*\bhot\b[^"]*"[^>]*data-n="(\d+)"', dom)
    check("the script marks an operation everywhere", len(hot) >= 3 and {n for _, n in hot} == {"4"}, hot)
    check("in the graph and in the code", {"g", "span"} <= {t for t, _ in hot}, hot)
    check("no error on the page's console", "CONSOLE" not in err or "Error" not in err, err)
    backgrounds = []
    for number in ("1", "0"):  # blink's values of prefers-color-scheme: light, dark
        shot = os.path.join(folder, f"shot{number}.png")
        browse(browser, path, "--blink-settings=preferredColorScheme=" + number, "--screenshot=" + shot)
        colours = png_colours(shot)
        most = max(colours, key=colours.get)
        backgrounds.append(sum(most))
        check("drawn in more than a few colours", len(colours) > 20, len(colours))
    check("light and dark", backgrounds[0] > 600 > 200 > backgrounds[1], backgrounds)


with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "page.html")
    test_terminal()
    test_code_names()
    test_reasons()
    test_dot()
    test_page(page)
    test_browser(folder, page)
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(failed > 0)
