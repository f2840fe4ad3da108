// SPDX-License-Identifier: MIT
// The directory of the code cache: where it is, what is refused, how it stays within its bound, and writers that die
// or work at the same time.
#include "cache_dir.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

TestSuite(cache_dir, .init = dir_begin, .fini = dir_end, .timeout = 120);

static bool exists(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

// ---- where it is -----------------------------------------------------------------------------------------------
static weft_stats by_env(bool ignore) {
    double out[N];
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .threads = 1, .log = hear, .ignore_env = ignore};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    work(ctx, 0, out);
    weft_stats s = stats_of(ctx);
    weft_ctx_free(ctx);
    return s;
}
static void env(const char *cache, const char *xdg, const char *home) {
    if (cache) setenv("WEFT_CACHE", cache, 1); else unsetenv("WEFT_CACHE");
    if (xdg) setenv("XDG_CACHE_HOME", xdg, 1); else unsetenv("XDG_CACHE_HOME");
    if (home) setenv("HOME", home, 1); else unsetenv("HOME");
}
Test(cache_dir, default_places) {
    char xdg[128], home[128], at[200];
    struct stat st;
    snprintf(xdg, sizeof xdg, "%s/xdg", base);
    snprintf(home, sizeof home, "%s/home", base);
    env(NULL, xdg, home);
    cr_assert_eq(by_env(false).disk_writes, 1);
    snprintf(at, sizeof at, "%s/weft", xdg);
    cr_assert(!stat(at, &st) && (st.st_mode & 07777) == 0700);
    cr_assert(!exists(home));
    env(NULL, "relative", home); // does not count
    cr_assert_eq(by_env(false).disk_writes, 1);
    snprintf(at, sizeof at, "%s/.cache/weft", home);
    cr_assert(!stat(at, &st) && (st.st_mode & 07777) == 0700);
    env(NULL, NULL, home);
    cr_assert_eq(by_env(false).disk_hits, 1);
    env(NULL, NULL, NULL);
    weft_stats s = by_env(false);
    cr_assert(!s.disk_writes && !s.disk_misses && s.compiles == 1);
    env("off", xdg, home);
    s = by_env(false);
    cr_assert(!s.disk_writes && !s.disk_hits && s.compiles == 1);
    snprintf(at, sizeof at, "%s/named", base);
    env(at, xdg, home);
    cr_assert_eq(by_env(false).disk_writes, 1);
    cr_assert(!stat(at, &st) && (st.st_mode & 07777) == 0700);
    cr_assert(!by_env(true).disk_hits); // ignore_env: no variable is read, so there is no default place
    cr_assert_eq(nsaid, 0, "%s", said);
}

// ---- what is refused ---------------------------------------------------------------------------------------------
// The result is right, nothing is read or written, and one line says why.
static void refused(const char *word) {
    double out[N], want[N];
    worked("", WEFT_BACKEND_INTERP, 0, want);
    said[0] = 0, nsaid = 0;
    weft_ctx *ctx = ctx_at(dir, WEFT_BACKEND_JIT);
    work(ctx, 0, out);
    cr_expect(!memcmp(out, want, sizeof out));
    work(ctx, 1, out);
    weft_stats s = stats_of(ctx);
    cr_expect(!s.disk_hits && !s.disk_writes && s.compiles == 2);
    cr_expect(nsaid == 1 && strstr(said, word), "%d lines, '%s' does not say '%s'", nsaid, said, word);
    weft_ctx_free(ctx);
}
Test(cache_dir, directories_that_others_could_touch_are_refused) {
    double out[N];
    worked(dir, WEFT_BACKEND_JIT, 0, out);
    static const mode_t modes[] = {0755, 0770, 0707, 0777, 0500, 0701};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        chmod(dir, modes[i]);
        refused("0700");
    }
    chmod(dir, 0700);
    cr_assert_eq(worked(dir, WEFT_BACKEND_JIT, 0, out).disk_hits, 1);
    char real[200];
    snprintf(real, sizeof real, "%s/real", base);
    cr_assert(!rename(dir, real) && !symlink(real, dir));
    refused("link");
    unlink(dir);
    spill(dir, "x", 1);
    refused("not a directory");
    unlink(dir);
    if (geteuid() == 0) { // only root can give a directory away
        cr_assert(!rename(real, dir) && !chown(dir, 12345, 12345));
        refused("somebody else");
    }
}
Test(cache_dir, files_that_others_could_touch_are_refused) {
    double out[N], want[N];
    char path[256], real[256];
    worked(dir, WEFT_BACKEND_JIT, 0, want);
    only_file(path);
    snprintf(real, sizeof real, "%s/real", base);
    chmod(path, 0620);
    weft_stats s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    cr_expect(!s.disk_hits && s.disk_writes == 1 && strstr(said, "writable by others"), "%s", said);
    cr_assert_eq(worked(dir, WEFT_BACKEND_JIT, 0, out).disk_hits, 1, "it was replaced");
    cr_assert(!rename(path, real) && !symlink(real, path));
    s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    struct stat st;
    cr_expect(!s.disk_hits && s.disk_writes == 1 && !lstat(path, &st) && S_ISREG(st.st_mode), "a link");
    cr_assert(!unlink(path) && !mkfifo(path, 0600));
    s = worked(dir, WEFT_BACKEND_JIT, 0, out); // and does not hang
    cr_expect(!s.disk_hits && s.disk_writes == 1, "a pipe");
    cr_assert(!unlink(path) && !mkdir(path, 0700));
    s = worked(dir, WEFT_BACKEND_JIT, 0, out);
    cr_expect(!s.disk_hits && !s.disk_writes && s.compiles == 1, "a directory");
    cr_assert(!rmdir(path));
    if (geteuid() == 0) {
        worked(dir, WEFT_BACKEND_JIT, 0, out);
        cr_assert(!chown(path, 12345, 12345));
        s = worked(dir, WEFT_BACKEND_JIT, 0, out);
        cr_expect(!s.disk_hits && s.disk_writes == 1 && strstr(said, "somebody else"), "%s", said);
    }
    cr_expect(!memcmp(out, want, sizeof out));
}

// ---- its bound -----------------------------------------------------------------------------------------------------
static void age(const char *path, time_t seconds) {
    struct timespec t[2] = {{time(NULL) - seconds, 0}, {time(NULL) - seconds, 0}};
    cr_assert(!utimensat(AT_FDCWD, path, t, 0));
}
static weft_stats bounded(size_t bytes, int from, int to) {
    double out[N];
    weft_ctx *ctx = NULL;
    weft_ctx_opts o = {.size = sizeof o, .backend = WEFT_BACKEND_JIT, .threads = 1, .code_dir = dir, .code_dir_bytes = bytes};
    cr_assert_eq(weft_ctx_new(&ctx, &o), WEFT_OK);
    for (int v = from; v < to; v++)
        work(ctx, v, out);
    weft_stats s = stats_of(ctx);
    weft_ctx_free(ctx);
    return s;
}
Test(cache_dir, the_bound_holds_and_the_oldest_go) {
    char first[256], name[64][64], stale[256], foreign[256];
    bounded(1 << 20, 0, 1);
    only_file(first);
    age(first, 100000);
    snprintf(stale, sizeof stale, "%s/.draft-1-2-3", dir);
    snprintf(foreign, sizeof foreign, "%s/somebody's notes", dir);
    spill(stale, "half a rec", 10), age(stale, 7200);
    spill(foreign, "keep", 4), age(foreign, 900000);
    cr_assert_eq(bounded(1 << 20, 0, 1).disk_hits, 1); // a hit makes it young again
    struct stat st;
    cr_assert(!stat(first, &st) && time(NULL) - st.st_mtim.tv_sec < 1000);
    bounded(1 << 20, 1, 12);
    int n = list(name, 64);
    cr_assert_eq(n, 12);
    cr_expect(!exists(stale) && exists(foreign));
    for (int i = 0; i < n; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%.63s", dir, name[i]);
        age(path, strcmp(path, first) ? 5000 + i : 10);
    }
    bounded(40 << 10, 12, 13); // 10 files of 4 KiB: 9 or fewer stay, the first and the new one among them
    n = list(name, 64);
    cr_expect(n >= 2 && n <= 10, "%d files", n);
    cr_expect(exists(first));
    cr_expect(bounded(1 << 20, 12, 13).disk_hits == 1);
    cr_expect(exists(foreign), "what is not ours stays");
    bounded(16, 20, 21); // a record larger than the bound is not written at all
    cr_expect_eq(list(name, 64), n);
}

// ---- others at the same time -----------------------------------------------------------------------------------------
// Processes that are killed at any moment of writing leave nothing that is believed and wrong.
Test(cache_dir, killed_writers_leave_nothing_half_written) {
    double want[4][N], out[N];
    for (int v = 0; v < 4; v++)
        worked("", WEFT_BACKEND_INTERP, v, want[v]);
    for (int round = 0; round < 12; round++) {
        pid_t child = fork();
        if (child == 0)
            for (int v = 0;; v = (v + 1) % 4) {
                char path[4][64];
                double mine[N];
                worked(dir, WEFT_BACKEND_JIT, v, mine);
                for (int n = list(path, 4); n > 0; n--) { // so that it goes on writing
                    char whole[256];
                    snprintf(whole, sizeof whole, "%s/%.63s", dir, path[n - 1]);
                    unlink(whole);
                }
            }
        struct timespec t = {0, (150 + 17 * round) * 1000000};
        nanosleep(&t, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (int v = 0; v < 4; v++) {
            weft_stats s = worked(dir, WEFT_BACKEND_AUTO, v, out);
            cr_expect(!memcmp(out, want[v], sizeof out) && !s.disk_refused);
        }
    }
}

Test(cache_dir, several_processes_share_it) {
    double want[6][N], out[N];
    pid_t child[4];
    for (int v = 0; v < 6; v++)
        worked("", WEFT_BACKEND_INTERP, v, want[v]);
    for (int c = 0; c < 4; c++) {
        child[c] = fork();
        if (child[c] == 0) {
            for (int i = 0; i < 12; i++) {
                weft_stats s = worked(dir, WEFT_BACKEND_JIT, (i + c) % 6, out);
                if (memcmp(out, want[(i + c) % 6], sizeof out) || s.disk_refused) _exit(1);
            }
            _exit(0);
        }
    }
    for (int c = 0; c < 4; c++) {
        int status = 0;
        waitpid(child[c], &status, 0);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
    }
    char name[8][64];
    cr_assert_eq(list(name, 8), 6);
    for (int v = 0; v < 6; v++)
        cr_expect_eq(worked(dir, WEFT_BACKEND_AUTO, v, out).disk_hits, 1);
}

// No place, no room: the result is right, a line is said, and no signal reaches the host.
Test(cache_dir, what_cannot_be_written_is_left) {
    double out[N], want[N];
    worked("", WEFT_BACKEND_INTERP, 0, want);
    weft_stats s = worked("/proc/weft-cache", WEFT_BACKEND_JIT, 0, out);
    cr_expect(!s.disk_writes && s.compiles == 1 && strstr(said, "made"), "%s", said);
    cr_expect(!memcmp(out, want, sizeof out));
    pid_t child = fork();
    if (child == 0) {
        struct rlimit most = {100, 100}; // bytes of any file; SIGXFSZ would end this process
        setrlimit(RLIMIT_FSIZE, &most);
        s = worked(dir, WEFT_BACKEND_JIT, 0, out);
        char name[2][64];
        _exit(s.disk_writes || s.compiles != 1 || memcmp(out, want, sizeof out) || list(name, 2));
    }
    int status = 0;
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %#x", status);
}
