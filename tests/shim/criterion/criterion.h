// SPDX-License-Identifier: MIT
// Just enough of Criterion for builds it cannot run in: under -fsanitize=thread its memory arena
// finds no place. Same macros and options, one forked process per test, a test's name or a part of
// it as argument. Ends with "N passed, N failed".
#ifndef WEFT_TESTS_SHIM_CRITERION_H
#define WEFT_TESTS_SHIM_CRITERION_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct shim_options {
    void (*init)(void), (*fini)(void);
    unsigned timeout;
    int signal, exit_code;
};
struct shim_test {
    const char *name;
    void (*run)(void);
    const struct shim_options *suite;
    struct shim_options own;
    struct shim_test *next;
};
__attribute__((weak)) struct shim_test *shim_tests;
__attribute__((weak)) int shim_failures; // expectations that did not hold, of this process
enum { SHIM_SKIPPED = 77 };

#define TestSuite(group, ...) const struct shim_options shim_suite_##group = {__VA_ARGS__}
#define Test(group, test, ...)                                                                     \
    static void group##_##test(void);                                                              \
    extern const struct shim_options shim_suite_##group __attribute__((weak));                     \
    __attribute__((constructor)) static void group##_##test##_enter(void) {                        \
        static struct shim_test t = {#group "/" #test, group##_##test, NULL, {__VA_ARGS__}, NULL}; \
        t.suite = &shim_suite_##group;                                                             \
        t.next = shim_tests;                                                                       \
        shim_tests = &t;                                                                           \
    }                                                                                              \
    static void group##_##test(void)

#define SHIM_TOLD(cond, then, text, ...)                                                           \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s", __FILE__, __LINE__, text);                                \
            fprintf(stderr, " " __VA_ARGS__);                                                      \
            fputc('\n', stderr);                                                                   \
            then;                                                                                  \
        }                                                                                          \
    } while (0)
#define SHIM_CHECK(cond, text, ...) SHIM_TOLD(cond, exit(1), text, __VA_ARGS__)
#define SHIM_EXPECT(cond, text, ...) SHIM_TOLD(cond, shim_failures++, text, __VA_ARGS__)
#define cr_assert(cond, ...) SHIM_CHECK(cond, #cond, __VA_ARGS__)
#define cr_assert_not(cond, ...) SHIM_CHECK(!(cond), "not " #cond, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) SHIM_CHECK((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) SHIM_CHECK((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) SHIM_CHECK((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) SHIM_CHECK((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) SHIM_CHECK((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) SHIM_CHECK((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) SHIM_CHECK(strcmp(a, b) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_assert_null(a, ...) SHIM_CHECK((a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_assert_not_null(a, ...) SHIM_CHECK((a) != NULL, #a " is not NULL", __VA_ARGS__)
#define cr_assert_arr_eq(a, b, size, ...)                                                          \
    SHIM_CHECK(memcmp(a, b, size) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_assert_fail(...) SHIM_CHECK(0, "", __VA_ARGS__)
#define cr_expect(cond, ...) SHIM_EXPECT(cond, #cond, __VA_ARGS__)
#define cr_expect_not(cond, ...) SHIM_EXPECT(!(cond), "not " #cond, __VA_ARGS__)
#define cr_expect_eq(a, b, ...) SHIM_EXPECT((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_expect_neq(a, b, ...) SHIM_EXPECT((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_expect_lt(a, b, ...) SHIM_EXPECT((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_expect_leq(a, b, ...) SHIM_EXPECT((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_expect_gt(a, b, ...) SHIM_EXPECT((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_expect_geq(a, b, ...) SHIM_EXPECT((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_expect_null(a, ...) SHIM_EXPECT((a) == NULL, #a " is NULL", __VA_ARGS__)
#define cr_expect_not_null(a, ...) SHIM_EXPECT((a) != NULL, #a " is not NULL", __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...) SHIM_EXPECT(strcmp(a, b) == 0, #a " equals " #b, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)                                                               \
    SHIM_EXPECT(strcmp(a, b) != 0, #a " differs from " #b, __VA_ARGS__)
#define cr_expect_float_eq(a, b, e, ...)                                                           \
    SHIM_EXPECT(fabs((double)(a) - (double)(b)) <= (double)(e), #a " near " #b, __VA_ARGS__)
#define cr_expect_fail(...) SHIM_EXPECT(0, "", __VA_ARGS__)
#define cr_log_info(...) fprintf(stderr, __VA_ARGS__), fputc('\n', stderr)
#define cr_log_warn cr_log_info
#define cr_skip_test(...)                                                                          \
    fprintf(stderr, "skipped: " __VA_ARGS__), fputc('\n', stderr), exit(SHIM_SKIPPED)

static inline void shim_child(const struct shim_test *t) {
    static const struct shim_options none;
    const struct shim_options *s = t->suite ? t->suite : &none;
    unsigned limit = t->own.timeout ? t->own.timeout : s->timeout;
    void (*init)(void) = t->own.init ? t->own.init : s->init;
    void (*fini)(void) = t->own.fini ? t->own.fini : s->fini;
    if (limit) alarm(limit);
    if (init) init();
    t->run();
    if (fini) fini();
    exit(shim_failures != 0);
}
static inline int shim_verdict(const struct shim_test *t,
                               int status) { // 1 passed, 0 failed, -1 skipped
    if (WIFEXITED(status) && WEXITSTATUS(status) == SHIM_SKIPPED) return -1;
    if (t->own.signal) return WIFSIGNALED(status) && WTERMSIG(status) == t->own.signal;
    return WIFEXITED(status) && WEXITSTATUS(status) == t->own.exit_code;
}

__attribute__((weak)) int main(int argc, char **argv) {
    int count[3] = {0, 0, 0};
    for (struct shim_test *t = shim_tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->name, argv[1])) continue;
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) shim_child(t);
        int status = 1, verdict = 0;
        if (child > 0 && waitpid(child, &status, 0) == child) verdict = shim_verdict(t, status);
        count[verdict + 1]++;
        if (!verdict) fprintf(stderr, "FAILED %s\n", t->name);
        if (verdict < 0) fprintf(stderr, "[SKIP] %s\n", t->name);
    }
    printf("%d passed, %d failed, %d skipped\n", count[2], count[1], count[0]);
    return count[1] != 0;
}

#endif
