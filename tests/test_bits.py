#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The same bits everywhere: a set of expressions over generated inputs, evaluated through the command under
every instruction-set cap and tier, must give the hashes of tests/golden/bits.txt, which hold on every machine.

usage: test_bits.py WEFT [--write]
Ends with "N passed, N failed"; BITS_GOLDEN=write (or --write) rewrites the file.
"""
import hashlib
import os
import subprocess
import sys

FUNCTIONS = ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh",
             "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "sigmoid", "erf", "erfc", "gelu_erf", "gelu_tanh", "silu", "softplus",
             "lgamma", "tgamma", "sinc", "ndtri", "sqrt", "reciprocal", "round", "sign"]
EXPRESSIONS = {f"{f}(x)": f"{f}((x-0.5)*s)" for f in FUNCTIONS}
EXPRESSIONS.update({
    "pow": "abs((x-0.5)*s)**(y*9-4)", "atan2": "atan2(x-0.5, y-0.5)", "hypot": "hypot(x*s, y)", "logaddexp": "logaddexp(x*s, y)",
    "logaddexp2": "logaddexp2(x*s, y)", "nextafter": "nextafter((x-0.5)*s, y)", "ldexp": "ldexp(x*s, cast(y*9-4, i32))", "remainder": "(x-0.5)*s % y",
    "floor_divide": "(x-0.5)*s // y", "chain": "sqrt(x*y+x)", "fma": "fma(x, y, x)", "sum": "sum(x*y)", "mean": "mean(x)",
    "var": "var(x*s)", "sum0": "sum(reshape(x, 3, -1), axis=0)", "sum1": "sum(reshape(x, -1, 3), axis=1)",
    "softmax": "exp(x-max(x))/sum(exp(x-max(x)))", "dot": "x@y", "matmul": "reshape(x[:3000], 50, 60) @ reshape(y[:3000], 60, 50)",
    "casts": "cast(x*300-20, u8)", "argmax": "argmax(x)", "prod": "prod(x+0.5)",
})
CONFIGS = [("WEFT_ISA=scalar", {"WEFT_ISA": "scalar", "WEFT_BACKEND": "interp"}), ("WEFT_ISA=avx2", {"WEFT_ISA": "avx2", "WEFT_BACKEND": "interp"}),
           ("best, interpreted", {"WEFT_BACKEND": "interp"}), ("WEFT_ISA=avx2, compiled", {"WEFT_ISA": "avx2", "WEFT_BACKEND": "jit"}),
           ("best, compiled", {"WEFT_BACKEND": "jit"}), ("best, 3 threads", {"WEFT_BACKEND": "jit", "WEFT_THREADS": "3"})]


def hashes(weft, env):
    out = {}
    for t in ("f64", "f32"):
        for s in ("3.0", "1000.0"):
            for name, e in EXPRESSIONS.items():
                p = subprocess.run([weft, "eval", e, f"x={t}[3003]", f"y={t}[3003]", f"s={s}", "--raw"], env={**os.environ, **env},
                                   capture_output=True, text=True)
                if p.returncode:
                    sys.exit(f"{e}: {p.stderr}")
                text = p.stdout.replace("-nan", "nan")
                out[f"{name} {t} {s}"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    return out


def main():
    weft = os.path.abspath(sys.argv[1])
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "bits.txt")
    if "--write" in sys.argv or os.environ.get("BITS_GOLDEN") == "write":
        with open(golden, "w") as f:
            for k, v in hashes(weft, CONFIGS[0][1]).items():
                f.write(f"{v} {k}\n")
        return 0
    want = dict(reversed(line.rstrip("\n").split(" ", 1)) for line in open(golden))
    passed = failed = 0
    for label, env in CONFIGS:
        got = hashes(weft, env)
        for k in want:
            if got.get(k) == want[k]:
                passed += 1
            else:
                failed += 1
                print(f"FAIL {label}: {k}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
