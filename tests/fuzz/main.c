// SPDX-License-Identifier: MIT
// fuzz_graph [--seconds N] [--seed N] [--graphs N] [--all]: random graphs until the time is over or
// something differs. Cases run in a child, so that a crash or a hang is a finding like any other; a
// finding is made small and told as a line of the command that shows it. Exit status 0 and a last
// line that counts when there was none.
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

struct shared { // between the parent and the child at work
    uint64_t seed, graphs;
    bool failed;
    struct failure failure;
};
static struct shared *shared;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Many cases, then a fresh child: contexts and caches begin anew.
static void work(uint64_t from, uint64_t count, double end) {
    struct fcase *c = malloc(sizeof *c);
    if (!c) abort();
    run_open();
    for (uint64_t s = from; s < from + count && now() < end; s++) {
        shared->seed = s;
        run_limit(60);
        if (make_case(c, run_context(), s)) {
            shared->failed = !run_case(c, NULL, &shared->failure);
            shared->graphs++;
        }
        case_free(c);
        if (shared->failed) break;
    }
    _exit(0);
}

static bool child(uint64_t from, uint64_t count, double end) {
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) work(from, count, end);
    if (pid < 0 || waitpid(pid, &status, 0) < 0) abort();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return !shared->failed;
    shared->failed = true;
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    snprintf(shared->failure.text, sizeof shared->failure.text, "%s (signal %d, exit status %d)",
             sig == SIGALRM || sig == SIGPROF ? "no end" : "the process died", sig,
             WEXITSTATUS(status));
    snprintf(shared->failure.how, sizeof shared->failure.how, "one of the evaluations");
    shared->failure.kind = 1000 + sig;
    return false;
}

static bool report(void) {
    struct fcase *c = malloc(sizeof *c);
    char folder[64];
    if (!c) abort();
    printf("seed %llu: %s: %s\n", (unsigned long long)shared->seed, shared->failure.how,
           shared->failure.text);
    snprintf(folder, sizeof folder, "fuzz-graph-%llu", (unsigned long long)shared->seed);
    run_open();
    if (make_case(c, run_context(), shared->seed)) {
        shrink_case(c, &shared->failure, 60);
        tell_case(c, &shared->failure, folder);
    }
    case_free(c);
    free(c);
    return false;
}

int main(int argc, char **argv) {
    double seconds = 60;
    uint64_t seed = (uint64_t)time(NULL) * 1000, graphs = UINT64_MAX;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0) {
            run_all = 1;
        } else if (i + 1 < argc && strcmp(argv[i], "--seconds") == 0) {
            seconds = atof(argv[++i]);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--graphs") == 0) {
            graphs = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: fuzz_graph [--seconds N] [--seed N] [--graphs N] [--all]\n");
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    double begin = now(), end = begin + seconds;
    uint64_t first = seed;
    bool ok = true;
    while (ok && now() < end && shared->graphs < graphs) {
        uint64_t count = graphs - shared->graphs < 2000 ? graphs - shared->graphs : 2000;
        ok = child(seed, count, end) || report();
        seed += count;
    }
    printf("%llu graphs from seed %llu in %.0f s, %s\n", (unsigned long long)shared->graphs,
           (unsigned long long)first, now() - begin, ok ? "nothing found" : "1 failed");
    return !ok;
}
