// SPDX-License-Identifier: MIT
// A line on the terminal while something takes long: what, and for how many seconds. Nothing
// appears for work that ends within half a second, nor when stderr is no terminal; the line is
// wiped at the end.
#include "cmd.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct progress {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    const char *what;
    bool done;
};

static struct timespec after(struct timespec t, long ms) {
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *show(void *arg) {
    struct progress *p = arg;
    struct timespec start, next;
    bool shown = false;
    clock_gettime(CLOCK_REALTIME, &start);
    next = after(start, 500);
    pthread_mutex_lock(&p->lock);
    while (!p->done) {
        if (pthread_cond_timedwait(&p->wake, &p->lock, &next) == 0 || p->done) continue;
        double seconds =
            (double)(next.tv_sec - start.tv_sec) + (double)(next.tv_nsec - start.tv_nsec) * 1e-9;
        fprintf(stderr, "\r%s ... %.1f s", p->what, seconds);
        fflush(stderr);
        shown = true;
        next = after(next, 100);
    }
    pthread_mutex_unlock(&p->lock);
    if (shown) fprintf(stderr, "\r\033[K");
    return NULL;
}

struct progress *progress_start(const char *what) {
    if (!isatty(STDERR_FILENO)) return NULL;
    struct progress *p = cmd_alloc(sizeof *p);
    *p = (struct progress){.what = what};
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    if (pthread_create(&p->thread, NULL, show, p) == 0) return p;
    free(p);
    return NULL;
}

void progress_stop(struct progress *p) {
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->done = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
