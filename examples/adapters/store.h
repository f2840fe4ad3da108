// SPDX-License-Identifier: MIT
// weft's machine code in a cache of the host's: here a list in memory, which a host would keep with its other files. A
// record is looked for by name and replaced as a whole; both functions may be called by several threads at once.
#ifndef WEFT_ADAPTER_STORE_H
#define WEFT_ADAPTER_STORE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <weft/weft.h>

struct weft_store_record {
    struct weft_store_record *next;
    char name[40];
    size_t size;
    unsigned char bytes[];
};
struct weft_store {
    pthread_mutex_t lock;
    struct weft_store_record *first;
    unsigned hits, misses, puts;
};

static inline struct weft_store_record **weft_store_find(struct weft_store *s, const char *name) {
    struct weft_store_record **at = &s->first;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static size_t weft_store_get(void *ud, const char *name, void *into, size_t room) {
    struct weft_store *s = (struct weft_store *)ud;
    pthread_mutex_lock(&s->lock);
    const struct weft_store_record *r = *weft_store_find(s, name);
    const size_t size = r ? r->size : 0;
    if (r && size <= room) {
        memcpy(into, r->bytes, size);
        s->hits++;
    }
    s->misses += !r;
    pthread_mutex_unlock(&s->lock);
    return size;
}

static bool weft_store_put(void *ud, const char *name, const void *data, size_t size) {
    struct weft_store *s = (struct weft_store *)ud;
    struct weft_store_record *r = (struct weft_store_record *)malloc(sizeof *r + size);
    if (!r || strlen(name) >= sizeof r->name) {
        free(r);
        return false;
    }
    r->next = NULL;
    r->size = size;
    strcpy(r->name, name);
    memcpy(r->bytes, data, size);
    pthread_mutex_lock(&s->lock);
    struct weft_store_record **at = weft_store_find(s, name), *old = *at;
    if (old) r->next = old->next;
    *at = r;
    s->puts++;
    pthread_mutex_unlock(&s->lock);
    free(old);
    return true;
}

static inline void weft_store_free(struct weft_store *s) {
    for (struct weft_store_record *r = s->first, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    s->first = NULL;
}

#endif
