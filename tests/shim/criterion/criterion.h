// SPDX-License-Identifier: MIT
// Just enough of Criterion for builds it cannot run in: under -fsanitize=thread its memory arena
// finds no place. Same macros, one forked process per test, the test's name or a part of it as
// argument.
#ifndef WEFT_TESTS_SHIM_CRITERION_H
#define WEFT_TESTS_SHIM_CRITERION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct shim_test {
    const char *name;
    void (*run)(void);
    struct shim_test *next;
};
__attribute__((weak)) struct shim_test *shim_tests;

#define Test(suite, test)                                                                          \
    static void suite##_##test(void);                                                              \
    __attribute__((constructor)) static void suite##_##test##_enter(void) {                        \
        static struct shim_test t = {#suite "/" #test, suite##_##test, NULL};                      \
        t.next = shim_tests;                                                                       \
        shim_tests = &t;                                                                           \
    }                                                                                              \
    static void suite##_##test(void)

#define SHIM_CHECK(cond, text, ...)                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: %s", __FILE__, __LINE__, text);                                \
            fprintf(stderr, " " __VA_ARGS__);                                                      \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)
#define cr_assert(cond, ...) SHIM_CHECK(cond, #cond, __VA_ARGS__)
#define cr_assert_not(cond, ...) SHIM_CHECK(!(cond), "not " #cond, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) SHIM_CHECK((a) == (b), #a " == " #b, __VA_ARGS__)
#define cr_assert_neq(a, b, ...) SHIM_CHECK((a) != (b), #a " != " #b, __VA_ARGS__)
#define cr_assert_lt(a, b, ...) SHIM_CHECK((a) < (b), #a " < " #b, __VA_ARGS__)
#define cr_assert_leq(a, b, ...) SHIM_CHECK((a) <= (b), #a " <= " #b, __VA_ARGS__)
#define cr_assert_gt(a, b, ...) SHIM_CHECK((a) > (b), #a " > " #b, __VA_ARGS__)
#define cr_assert_geq(a, b, ...) SHIM_CHECK((a) >= (b), #a " >= " #b, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) SHIM_CHECK(strcmp(a, b) == 0, #a " equals " #b, __VA_ARGS__)

__attribute__((weak)) int main(int argc, char **argv) {
    int failed = 0, ran = 0;
    for (struct shim_test *t = shim_tests; t; t = t->next) {
        if (argc > 1 && !strstr(t->name, argv[1])) continue;
        ran++;
        const pid_t child = fork();
        if (child == 0) {
            t->run();
            exit(0);
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "FAILED %s\n", t->name);
            failed++;
        }
    }
    fprintf(stderr, "%d tests, %d failed\n", ran, failed);
    return failed != 0;
}

#endif
