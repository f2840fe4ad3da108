#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""headline.py ROWS.json [README.md]: the README's table from the rows of `weft-bench --suite chain --json ROWS.json`:
times of sqrt(x*y+x) over f64 in microseconds. With a second argument it is written there, between its marks."""
import json
import re
import sys

PEERS = [("unfused", "each operation alone"), ("interpreted", "interpreted"), ("by hand", "loop by hand"),
         ("NumPy", "NumPy `out=`"), ("numexpr", "numexpr"), ("numba", "numba")]
MARKS = re.compile(r"(<!-- headline -->\n).*?(<!-- /headline -->)", re.S)


def micro(ns):
    us = ns / 1000
    return f"{us:.2f}" if us < 10 else f"{us:.1f}" if us < 100 else f"{us:,.0f}".replace(",", " ")


def size(n):
    return f"{n >> 20} Mi" if n >= 1 << 20 else f"{n >> 10} Ki"


def table(rows):
    cells = {}
    for r in rows:
        if r["suite"] == "chain" and r["name"] == "sqrt(x*y+x)" and r["dtype"] == "f64":
            row = cells.setdefault((r["threads"], r["n"]), {"fused": r["ns"]})
            row[r["peer"]] = r["peer_ns"]
    if not cells:
        sys.exit("headline: no rows of sqrt(x*y+x) over f64")
    peers = [p for p in PEERS if any(p[0] in row for row in cells.values())]
    lines = ["| elements | threads | fused | " + " | ".join(head for _, head in peers) + " |", "|---" * (3 + len(peers)) + "|"]
    for (threads, n), row in sorted(cells.items()):
        if threads > 1 and n < 1 << 18:
            continue  # one thread's work
        values = [micro(row["fused"])] + [micro(row[p]) if row.get(p) else "" for p, _ in peers]
        lines.append(f"| {size(n)} | {threads} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        made = table(json.load(f))
    if len(sys.argv) < 3:
        print(made, end="")
        return
    with open(sys.argv[2], encoding="utf-8") as f:
        text = f.read()
    if not MARKS.search(text):
        sys.exit(f"headline: {sys.argv[2]} has no <!-- headline --> marks")
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write(MARKS.sub(lambda m: m[1] + made + m[2], text))


if __name__ == "__main__":
    main()
