// SPDX-License-Identifier: MIT
// weft-bench compare OLD.json NEW.json: what changed beyond noise. Rows are matched by suite, name,
// dtype, isa, n and threads. Machines differ from hour to hour, so a row is judged by its time
// against its own peer (or limit) of the same run where it has one, and by its plain time
// otherwise; the noise is taken from the rows themselves: the median distance of all ratios from
// their median. Exit status 1 when something got slower.
#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "bench.h"

enum { ROWS_MAX = 4096 };
struct change {
    const char *name, *against;
    char what[160];
    double ratio; // new over old; below 1 is faster
};

static const char *text(const json_t *o, const char *key) {
    const char *s = json_string_value(json_object_get(o, key));
    return s ? s : "";
}
static double real(const json_t *o, const char *key) {
    const json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static bool same_row(const json_t *a, const json_t *b) {
    static const char *const words[] = {"suite", "name", "isa", "dtype", "peer", "unit"};
    static const char *const numbers[] = {"n", "threads"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (strcmp(text(a, words[i]), text(b, words[i])) != 0) return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (json_integer_value(json_object_get(a, numbers[i])) !=
            json_integer_value(json_object_get(b, numbers[i])))
            return false;
    return true;
}

// time against what the same run measured beside it
static double relative(const json_t *o, const char **against) {
    const double ns = real(o, "ns"), peer = real(o, "peer_ns"), limit = real(o, "limit_ns");
    *against = "peer";
    if (peer > 0) return ns / peer;
    *against = "limit";
    if (limit > 0) return ns / limit;
    *against = "time";
    return isnan(ns) ? real(o, "value") : ns;
}

static int by_ratio(const void *a, const void *b) {
    const double x = ((const struct change *)a)->ratio, y = ((const struct change *)b)->ratio;
    return (x > y) - (x < y);
}
static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double noise_of(const struct change *c, int n, double *middle) {
    static double d[ROWS_MAX];
    for (int i = 0; i < n; i++)
        d[i] = c[i].ratio;
    qsort(d, (size_t)n, sizeof *d, ascending);
    *middle = d[n / 2];
    for (int i = 0; i < n; i++)
        d[i] = fabs(c[i].ratio / *middle - 1);
    qsort(d, (size_t)n, sizeof *d, ascending);
    return 1.4826 * d[n / 2]; // the standard deviation of normal noise, by its median distance
}

static int match(const json_t *old, const json_t *new, struct change *c, int *gone) {
    int n = 0;
    size_t i, k;
    json_t *a, *b;
    json_array_foreach(new, i, b) {
        const json_t *found = NULL;
        json_array_foreach(old, k, a) {
            if (same_row(a, b)) found = a;
        }
        const char *against;
        const double before = found ? relative(found, &against) : (double)NAN,
                     now = relative(b, &against);
        if (!(before > 0) || !(now > 0) || n == ROWS_MAX) continue;
        c[n].against = against;
        c[n].ratio = now / before;
        snprintf(c[n].what, sizeof c[n].what, "%s %s %s n=%lld %dt %s", text(b, "suite"),
                 text(b, "name"), text(b, "dtype"),
                 (long long)json_integer_value(json_object_get(b, "n")),
                 (int)json_integer_value(json_object_get(b, "threads")), text(b, "peer"));
        n++;
    }
    *gone = (int)json_array_size(old) - n;
    return n;
}

static json_t *load(const char *path) {
    json_error_t e;
    json_t *j = json_load_file(path, 0, &e);
    if (j && json_is_array(j)) return j;
    fprintf(stderr, "weft-bench: %s: %s\n", path, j ? "not a list of rows" : e.text);
    json_decref(j);
    return NULL;
}

int compare_main(int argc, char **argv) {
    static struct change c[ROWS_MAX];
    if (argc != 2) {
        fprintf(stderr, "usage: weft-bench compare OLD.json NEW.json\n");
        return 2;
    }
    json_t *old = load(argv[0]), *new = load(argv[1]);
    int slower = 0, faster = 0, gone = 0;
    if (!old || !new) {
        json_decref(old), json_decref(new);
        return 2;
    }
    const int n = match(old, new, c, &gone);
    double middle = 1;
    const double noise = n ? noise_of(c, n, &middle) : 0, band = MAX_OF(3 * noise, 0.05);
    qsort(c, (size_t)n, sizeof *c, by_ratio);
    for (int i = 0; i < n; i++) {
        if (fabs(c[i].ratio - 1) <= band) continue;
        const bool worse = c[i].ratio > 1;
        slower += worse, faster += !worse;
        printf("%-6s %.2fx  %s (against its %s)\n", worse ? "slower" : "faster",
               worse ? c[i].ratio : 1 / c[i].ratio, c[i].what, c[i].against);
    }
    printf("%d rows compared, %d only in the old file; noise %.1f %%, band %.1f %%: %d slower, %d "
           "faster\n",
           n, MAX_OF(gone, 0), 100 * noise, 100 * band, slower, faster);
    json_decref(old), json_decref(new);
    return slower ? 1 : 0;
}
