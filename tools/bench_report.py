#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bench_report.py ROWS.json REPORT.html: one self-contained page from weft-bench's rows. Plots are SVG made
by matplotlib and put into the page; every row is also in a table, losses included."""
import collections
import html
import io
import json
import platform
import re
import statistics
import sys

try:
    import matplotlib
except ImportError:
    sys.exit("bench_report: matplotlib is missing (apt-get install python3-matplotlib)")
matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "weft"
import matplotlib.pyplot as plt  # noqa: E402

STYLE = """body{font:15px/1.5 sans-serif;max-width:75em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:13px;margin:1em 0}td,th{padding:2px 9px;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child,td.l{text-align:left}.loss{color:#b00020;font-weight:bold}.win{color:#0a6b2d}
svg{max-width:100%;height:auto}figure{margin:1em 0}figcaption{color:#555}"""


def svg(figure):
    text = io.StringIO()
    figure.savefig(text, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return re.sub(r"^.*?<svg", "<svg", text.getvalue(), count=1, flags=re.S)


def key(row):
    return row["suite"], row["name"], row["dtype"], row["threads"], row["isa"]


def timed(rows, suite):
    return [r for r in rows if r.get("suite") == suite and r.get("ns")]


def throughput(rows):
    """Elements per second against size, one picture per chain, the limit drawn in."""
    by = collections.defaultdict(list)
    for r in timed(rows, "chain"):
        by[key(r)].append(r)
    pictures = []
    for (_, name, dtype, threads, isa), group in by.items():
        sizes = sorted({r["n"] for r in group})
        if len(sizes) < 2:
            continue
        lines = collections.defaultdict(dict)
        for r in group:
            lines["weft, fused"][r["n"]] = r["n"] / r["ns"]
            if r["peer_ns"]:
                lines[r["peer"]][r["n"]] = r["n"] / r["peer_ns"]
            if r["limit_ns"]:
                lines["limit"][r["n"]] = r["n"] / r["limit_ns"]
        figure, axes = plt.subplots(figsize=(7, 3.6))
        for label, points in lines.items():
            ns = sorted(points)
            look = {"color": "black", "linestyle": "--"} if label == "limit" else {}
            width = 2.6 if label.startswith("weft") else 1.2
            axes.plot(ns, [points[n] for n in ns], marker="o", markersize=3, linewidth=width, label=label, **look)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("elements")
        axes.set_ylabel("elements per ns")
        axes.legend(fontsize=7, ncol=2)
        axes.set_title(f"{name}, {dtype}, {threads} thread(s), {isa}", fontsize=10)
        pictures.append(svg(figure))
    return pictures


def ratios(rows, suite):
    """Bars of peer time over weft time, geometric mean over the rows of a suite."""
    by = collections.defaultdict(list)
    for r in timed(rows, suite):
        if r["peer_ns"]:
            by[(r["peer"], r["threads"])].append(r["peer_ns"] / r["ns"])
    if not by:
        return ""
    labels = [f"{peer} ({threads}t)" for peer, threads in by]
    values = [statistics.geometric_mean(v) for v in by.values()]
    figure, axes = plt.subplots(figsize=(7, 0.35 * len(labels) + 0.8))
    axes.barh(labels, values, color=["#2a7" if v >= 1 else "#b33" for v in values])
    axes.axvline(1, color="black", linewidth=0.8)
    for at, v in enumerate(values):
        axes.text(v, at, f" {v:.2f}x", va="center", fontsize=8)
    axes.set_title(f"{suite}: peer's time over weft's, geometric mean of the rows", fontsize=10)
    axes.invert_yaxis()
    return svg(figure)


def compile_curve(rows):
    points = collections.defaultdict(list)
    for r in timed(rows, "compile"):
        found = re.match(r"(build|plan|code), (\d+) ops, 1 outputs", r["name"])
        if found:
            points[found[1]].append((int(found[2]), r["ns"] / 1e6))
    if not points:
        return ""
    figure, axes = plt.subplots(figsize=(7, 3.4))
    for stage, line in points.items():
        line = sorted(dict(line).items())
        axes.plot(*zip(*line), marker="o", markersize=3, label=stage)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("operations")
    axes.set_ylabel("ms")
    axes.legend()
    axes.set_title("compile time by stage", fontsize=10)
    return svg(figure)


def show_time(ns):
    if ns is None:
        return ""
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 1e4 * scale:
            return f"{ns / scale:.1f} {unit}"
    return f"{ns / 1e6:.1f} ms"


def table(rows, suite):
    out = ["<table><tr><th>row</th><th>type</th><th>n</th><th>threads</th><th>isa</th><th>weft</th><th>peer</th>"
           "<th>its time</th><th>ratio</th><th>limit</th><th>reached</th></tr>"]
    for r in rows:
        if r["suite"] != suite:
            continue
        if "ns" not in r:
            out.append(f"<tr><td>{html.escape(r['name'])}</td><td colspan=10 class=l>{r['value']:.0f} {r['unit']}</td></tr>")
            continue
        ratio = r["peer_ns"] / r["ns"] if r["peer_ns"] else None
        mark = "" if ratio is None else f"<span class={'win' if ratio >= 1 else 'loss'}>{ratio:.2f}x</span>"
        reached = f"{100 * r['limit_ns'] / r['ns']:.0f} %" if r["limit_ns"] else ""
        out.append("<tr>" + "".join(f"<td>{c}</td>" for c in (
            html.escape(r["name"]), r["dtype"], r["n"], r["threads"], r["isa"], show_time(r["ns"]),
            html.escape(r["peer"] or ""), show_time(r["peer_ns"]), mark, html.escape(r["limit"] or ""), reached)) + "</tr>")
    return "\n".join(out + ["</table>"])


def cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            return re.search(r"model name\s*:\s*(.*)", f.read())[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: bench_report.py ROWS.json REPORT.html")
    with open(sys.argv[1], encoding="utf-8") as f:
        rows = json.load(f)
    suites = list(dict.fromkeys(r["suite"] for r in rows))
    parts = [f"<!doctype html><meta charset=utf-8><title>weft benchmarks</title><style>{STYLE}</style><h1>weft benchmarks</h1>",
             f"<p>{html.escape(cpu())}. Every row was measured beside its peers and its limit in interleaved rounds of one run; figures are medians. "
             "A ratio is the peer's time over weft's: above 1, weft is faster. Losses stay in the tables.</p>"]
    for suite in suites:
        parts.append(f"<h2>{suite}</h2>")
        pictures = [ratios(rows, suite)] + (throughput(rows) if suite == "chain" else []) + ([compile_curve(rows)] if suite == "compile" else [])
        parts += [f"<figure>{p}</figure>" for p in pictures if p]
        parts.append(table(rows, suite))
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(parts))
    print(f"{sys.argv[2]}: {len(rows)} rows")


if __name__ == "__main__":
    main()
