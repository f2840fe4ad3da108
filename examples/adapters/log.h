// SPDX-License-Identifier: MIT
// weft's log in the host's: lines get the host's level and prefix and arrive whole, whichever thread they come from.
#ifndef WEFT_ADAPTER_LOG_H
#define WEFT_ADAPTER_LOG_H

#include <pthread.h>
#include <stdio.h>

#include <weft/weft.h>

struct weft_log_sink {
    FILE *to;
    weft_log_level least; // less important lines are dropped
    pthread_mutex_t lock;
    unsigned lines[2]; // passed on, per level
};

// The hook: weft_ctx_opts.log, with the sink as log_ud.
static void weft_log_line(void *ud, weft_log_level level, const char *line) {
    struct weft_log_sink *s = (struct weft_log_sink *)ud;
    if (level < s->least) return;
    pthread_mutex_lock(&s->lock);
    s->lines[level == WEFT_LOG_WARN]++;
    fprintf(s->to, "%s weft: %s\n", level == WEFT_LOG_WARN ? "WARNING" : "info", line);
    pthread_mutex_unlock(&s->lock);
}

#endif
