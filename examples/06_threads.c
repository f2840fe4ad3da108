// SPDX-License-Identifier: MIT
// Introduces: thread counts per context and per call, the same bits at each, and a host that lends its
// own threads.
#include <pthread.h>
#include <string.h>

#include "check.h"

enum { N = 1 << 20 };
static float xs[N];

struct part {
    void (*body)(void *arg, int64_t i);
    void *arg;
    int64_t i;
};
static void *call(void *arg) {
    struct part *p = arg;
    p->body(p->arg, p->i);
    return NULL;
}
// The simplest executor there is: a thread for each part.
static void my_parallel_for(void *ud, int64_t n, void (*body)(void *, int64_t), void *arg) {
    (void)ud;
    pthread_t thread[16];
    struct part part[16];
    for (int64_t base = 0; base < n; base += 16) {
        int64_t now = n - base < 16 ? n - base : 16;
        bool started[16];
        for (int64_t i = 0; i < now; i++) {
            part[i] = (struct part){body, arg, base + i};
            started[i] = pthread_create(&thread[i], NULL, call, &part[i]) == 0;
            if (!started[i]) call(&part[i]);
        }
        for (int64_t i = 0; i < now; i++)
            if (started[i]) pthread_join(thread[i], NULL);
    }
}

static float total(const weft_ctx_opts *opts) {
    weft_ctx *ctx = NULL;
    float sum = 0;
    must(weft_ctx_new(&ctx, opts), NULL);
    weft_graph *g = weft_graph_new(ctx);
    weft_array xa = weft_dense(WEFT_F32, xs, 1, (const int64_t[]){N});
    weft_array out = weft_dense(WEFT_F32, &sum, 0, NULL);
    weft_expr *x = weft_from(g, &xa);
    must(weft_eval(weft_sum(weft_mul(x, weft_sqrt(x)), NULL), &out, NULL), g);
    weft_graph_free(g);
    weft_ctx_free(ctx);
    return sum;
}

int main(void) {
    for (int i = 0; i < N; i++)
        xs[i] = (float)(((unsigned)i * 2654435761u) >> 8) * 1e-6f;
    weft_executor mine = {.threads = 4, .parallel_for = my_parallel_for};
    float one = total(&(weft_ctx_opts){.size = sizeof(weft_ctx_opts), .threads = 1});
    float two = total(&(weft_ctx_opts){.size = sizeof(weft_ctx_opts), .threads = 2});
    float seven = total(&(weft_ctx_opts){.size = sizeof(weft_ctx_opts), .threads = 7});
    float lent = total(&(weft_ctx_opts){.size = sizeof(weft_ctx_opts), .executor = &mine});
    printf("sum of a million f32 products: %.9g with 1, 2, 7 and lent threads\n", one);
    expect(!memcmp(&one, &two, 4) && !memcmp(&one, &seven, 4) && !memcmp(&one, &lent, 4),
           "the same bits at every thread count");
    return 0;
}
