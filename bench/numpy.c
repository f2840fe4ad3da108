// SPDX-License-Identifier: MIT
// The pipe to the child that runs NumPy, numexpr and numba (bench/numpy_peer.py). The child times
// itself, so the pipe's latency is in no figure. Without Python or a package the peers concerned
// are left out.
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

static struct {
    pid_t pid;
    FILE *to, *from;
    bool tried;
} child;

// Beside the program where it was built, under share/weft where it is installed.
static const char *peer_script(void) {
    static char path[4096];
    static const char *const places[] = {"numpy_peer.py", "../share/weft/numpy_peer.py"};
    char self[3072];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = 0;
    char *slash = strrchr(self, '/');
    if (slash) slash[1] = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s", self, places[i]);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

static bool start(const char *python) {
    int to[2], from[2];
    const char *script = peer_script();
    if (!script || pipe(to) || pipe(from)) return false;
    child.pid = fork();
    if (child.pid == 0) {
        dup2(to[0], 0), dup2(from[1], 1);
        close(to[1]), close(from[0]);
        execlp(python, python, script, (char *)NULL);
        _exit(127);
    }
    close(to[0]), close(from[1]);
    if (child.pid < 0) return false;
    signal(SIGPIPE, SIG_IGN);
    child.to = fdopen(to[1], "w");
    child.from = fdopen(from[0], "r");
    return child.to && child.from;
}

// one line there, one number back; negative when the child is gone
static double ask(const char *line) {
    char answer[64];
    if (!child.to || fprintf(child.to, "%s\n", line) < 0 || fflush(child.to)) return -1;
    if (!fgets(answer, sizeof answer, child.from)) return -1;
    return strtod(answer, NULL);
}

bool numpy_job(struct bench *b, struct numpy_job *j, const char *engine, const char *setup,
               const char *statement, int threads) {
    j->id = 0;
    if (!child.tried) {
        child.tried = true;
        if (!start(b->python))
            fprintf(stderr, "weft-bench: %s cannot be started; no NumPy figures\n", b->python);
    }
    if (!child.to) return false;
    json_t *both = json_pack("[ss]", setup, statement);
    char *text = json_dumps(both, JSON_COMPACT);
    size_t size = strlen(text) + 64;
    char *line = malloc(size);
    bench_need(line != NULL, "no memory");
    snprintf(line, size, "job %s %d %s", engine, threads, text);
    const double id = ask(line);
    free(line), free(text), json_decref(both);
    j->id = id > 0 ? (int)id : 0;
    return j->id > 0;
}

double numpy_time(void *ud, int64_t times) {
    const struct numpy_job *j = ud;
    char line[64];
    if (!j->id) return -1;
    snprintf(line, sizeof line, "run %d %lld", j->id, (long long)times);
    return ask(line);
}

double numpy_value(struct numpy_job *j, const char *name) {
    char line[96];
    snprintf(line, sizeof line, "value %d %s", j->id, name);
    return ask(line);
}

void numpy_stop(void) {
    if (child.to) fclose(child.to);
    if (child.from) fclose(child.from);
    if (child.pid > 0) waitpid(child.pid, NULL, 0);
    child.to = child.from = NULL;
}
