# SPDX-License-Identifier: MIT
"""The child process of weft-bench: times NumPy, numexpr and numba over its own arrays in the same rounds.

One request a line on standard input, one answer a line on standard output:
    job ENGINE THREADS <json [setup, statement]>   -> number of the job, or 0 when it cannot be had
    run JOB TIMES                                  -> nanoseconds of TIMES executions
    value JOB NAME                                 -> a number that the job left in a variable
setup is Python that makes the arrays, with np (NumPy) at hand; statement is what is timed: Python for
numpy, one expression over the arrays for numexpr (result in `out`), a function body line over x, y, out
for numba.
"""
import json
import sys
import time

import numpy as np

jobs = [None]
spaces = [None]


def numpy_runner(names, statement):
    code = compile(f"def go(times):\n for _ in range(times):\n  {statement}\n", "numpy", "exec")
    exec(code, names)
    return names["go"]


def numexpr_runner(names, statement, threads):
    import numexpr as ne

    def go(times):
        ne.set_num_threads(threads)
        for _ in range(times):
            ne.evaluate(statement, local_dict=names, out=names["out"])
    go(1)
    return go


def numba_runner(names, statement, threads):
    import numba
    text = ("def loop(x, y, out):\n for i in numba.prange(out.size):\n"
            f"  out[i] = {statement}\n")
    space = {"numba": numba, "np": np}
    exec(text, space)
    loop = numba.njit(parallel=threads > 1)(space["loop"])
    x, y, out = names["x"], names.get("y", names["x"]), names["out"]
    if threads > 1:
        numba.set_num_threads(threads)
    loop(x, y, out)

    def go(times):
        for _ in range(times):
            loop(x, y, out)
    return go


def make(engine, threads, setup, statement):
    names = {"np": np}
    exec(setup, names)
    spaces.append(names)
    if engine == "numpy":
        return numpy_runner(names, statement)
    if engine == "numexpr":
        return numexpr_runner(names, statement, threads)
    return numba_runner(names, statement, threads)


def main():
    np.seterr(all="ignore")
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "job":
            engine, threads, text = rest.split(" ", 2)
            try:
                jobs.append(make(engine, int(threads), *json.loads(text)))
                print(len(jobs) - 1, flush=True)
            except Exception as error:
                del spaces[len(jobs):]
                print(f"{engine}: {error}", file=sys.stderr)
                print(0, flush=True)
        elif word == "run":
            job, times = rest.split()
            go, times = jobs[int(job)], int(times)
            begin = time.perf_counter_ns()
            go(times)
            print(time.perf_counter_ns() - begin, flush=True)
        elif word == "value":
            job, name = rest.split()
            print(float(spaces[int(job)].get(name, "nan")), flush=True)


if __name__ == "__main__":
    main()
