// SPDX-License-Identifier: MIT
// The `weft` command: verbs, options, help. Bad input is one sentence on stderr and exit status 2;
// what the machine cannot give is status 1.
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: weft eval 'EXPR' [NAME=VALUE ...] [-o FILE.npy ...]   compute, print or write\n"
    "       weft eval --graph FILE.weft [NAME=VALUE ...]          the same, of a saved graph\n"
    "       weft save 'EXPR' [NAME=VALUE ...] -o FILE.weft        a graph whose arrays are inputs\n"
    "       weft explain 'EXPR' [NAME=VALUE ...]                  graph, plan, LLVM IR, machine "
    "code\n"
    "       weft bench 'EXPR' [NAME=VALUE ...]                    fused, unfused and interpreted "
    "times\n"
    "       weft ops | weft info [--env]                          operations; this machine and "
    "build\n"
    "\n"
    "EXPR is written as in NumPy: 'm = mean(x, axis=0); (x - m)[1:] * s, x.T @ y'. ';' ends an "
    "assignment,\n"
    "',' separates results. weft ops lists the operations.\n"
    "VALUE is a .npy file, a number, or generated: f64[1000,10] (pseudo-random, always the same),\n"
    "i32[10]:iota, f32[4]:0. Without a VALUE explain and bench take f64[1000].\n"
    "\n"
    "  -o, --out FILE        write a result as .npy (once per result; - is the standard output)\n"
    "      --raw             print one value a line, exactly: %a for floats\n"
    "      --json            explain, bench, ops: for programs\n"
    "      --threads N       at most N threads\n"
    "      --backend B       auto, interp or jit\n"
    "      --isa I           best, scalar, avx2, avx512 or neon\n"
    "      --check           eval: stop at the first overflow, division by zero, bad cast, shift,\n"
    "                        index, or NaN or infinity made of finite numbers\n"
    "      --unfused         eval: every operation its own pass\n"
    "      --profile         eval: time, bytes and tier of every step, on stderr\n"
    "      --ir, --plan, --llvm, --asm, --dot   explain: only these\n"
    "      --html FILE       explain: a page with pictures, times measured here, and the code (- is the\n"
    "                        standard output)\n"
    "      --color WHEN      explain: auto (on a terminal, unless NO_COLOR is set), always or never\n"
    "      --rounds N        bench: rounds of measurement (default 9)\n"
    "  -h, --help            this text; --version: the version\n";

int cmd_fail(const char *fmt, ...) {
    va_list ap;
    fprintf(stderr, "weft: ");
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "\n");
    return EXIT_BAD;
}

int cmd_fail_status(weft_status s, const char *what) {
    cmd_fail("%s", what && *what ? what : weft_status_text(s));
    return s == WEFT_ENOMEM || s == WEFT_ESYS || s == WEFT_EUNSUPPORTED ? EXIT_FAULT : EXIT_BAD;
}

void *cmd_alloc(size_t size) {
    void *p = malloc(size ? size : 1);
    if (p) return p;
    cmd_fail("no memory for %zu bytes", size);
    exit(EXIT_FAULT);
}

static void log_line(void *ud, weft_log_level level, const char *line) {
    (void)ud;
    fprintf(stderr, "%s%s\n", level == WEFT_LOG_WARN ? "weft: " : "", line);
}

// The log is shown to who asked for it: by a dump, a check, or a tier by name.
static weft_ctx *make_context(const struct options *o, weft_backend backend, const char *code_dir) {
    weft_ctx *ctx = NULL;
    bool talk = getenv("WEFT_DUMP") || getenv("WEFT_CHECK") || o->backend == WEFT_BACKEND_JIT;
    weft_ctx_opts opts = {.size = sizeof opts,
                          .log = talk ? log_line : NULL,
                          .threads = o->threads,
                          .isa = o->isa,
                          .backend = backend,
                          .code_dir = code_dir};
    weft_status st = weft_ctx_new(&ctx, &opts);
    if (st) cmd_fail("no context: %s", weft_status_text(st));
    return ctx;
}

weft_ctx *open_context(const struct options *o, weft_backend backend) {
    return make_context(o, backend, NULL);
}
weft_ctx *open_bare_context(const struct options *o, weft_backend backend) {
    return make_context(o, backend, "");
}

// ---- options ----------------------------------------------------------------------------------
enum {
    OPT_RAW = 256,
    OPT_JSON,
    OPT_THREADS,
    OPT_BACKEND,
    OPT_ISA,
    OPT_UNFUSED,
    OPT_CHECK,
    OPT_ROUNDS,
    OPT_ENV,
    OPT_PROFILE,
    OPT_HTML,
    OPT_COLOR,
    OPT_GRAPH,
    OPT_VERSION,
    OPT_SHOW = 512
};
static const struct option long_options[] = {{"out", required_argument, NULL, 'o'},
                                             {"raw", no_argument, NULL, OPT_RAW},
                                             {"json", no_argument, NULL, OPT_JSON},
                                             {"threads", required_argument, NULL, OPT_THREADS},
                                             {"backend", required_argument, NULL, OPT_BACKEND},
                                             {"isa", required_argument, NULL, OPT_ISA},
                                             {"unfused", no_argument, NULL, OPT_UNFUSED},
                                             {"check", no_argument, NULL, OPT_CHECK},
                                             {"rounds", required_argument, NULL, OPT_ROUNDS},
                                             {"env", no_argument, NULL, OPT_ENV},
                                             {"profile", no_argument, NULL, OPT_PROFILE},
                                             {"html", required_argument, NULL, OPT_HTML},
                                             {"color", required_argument, NULL, OPT_COLOR},
                                             {"graph", required_argument, NULL, OPT_GRAPH},
                                             {"help", no_argument, NULL, 'h'},
                                             {"version", no_argument, NULL, OPT_VERSION},
                                             {"ir", no_argument, NULL, OPT_SHOW + WEFT_DUMP_IR},
                                             {"plan", no_argument, NULL, OPT_SHOW + WEFT_DUMP_PLAN},
                                             {"llvm", no_argument, NULL, OPT_SHOW + WEFT_DUMP_LLVM},
                                             {"asm", no_argument, NULL, OPT_SHOW + WEFT_DUMP_ASM},
                                             {"dot", no_argument, NULL, OPT_SHOW + WEFT_DUMP_DOT},
                                             {NULL, 0, NULL, 0}};

static bool read_count(const char *what, const char *s, int *out) {
    char *end;
    errno = 0;
    long v = strtol(s, &end, 10);
    if (errno || *end || end == s || v < 1 || v > 4096) {
        cmd_fail("%s: '%s' is not a number in 1..4096", what, s);
        return false;
    }
    *out = (int)v;
    return true;
}

static bool read_word(const char *what, const char *s, const char *const *words, int n, int *out) {
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], s) == 0) {
            *out = i;
            return true;
        }
    cmd_fail("%s: '%s' is not one of %s, %s, %s%s", what, s, words[0], words[1], words[2],
             n > 3 ? ", ..." : "");
    return false;
}

static bool read_option(struct options *o, int c) {
    static const char *const backends[] = {"auto", "interp", "jit"};
    static const char *const colors[] = {"auto", "always", "never"}; // enum color
    static const char *const isas[] = {"best", "scalar", "avx2", "avx512", "neon"};
    int i = 0;
    switch (c) {
    case 'o': o->out[o->nout++] = optarg; return true;
    case OPT_RAW: o->raw = true; return true;
    case OPT_JSON: o->json = true; return true;
    case OPT_UNFUSED: o->unfused = true; return true;
    case OPT_CHECK: o->check = true; return true;
    case OPT_ENV: o->env = true; return true;
    case OPT_PROFILE: o->profile = true; return true;
    case OPT_HTML: o->html = optarg; return true;
    case OPT_COLOR: return read_word("--color", optarg, colors, COUNT_OF(colors), &o->color);
    case OPT_GRAPH: o->graph = optarg; return true;
    case OPT_THREADS: return read_count("--threads", optarg, &o->threads);
    case OPT_ROUNDS: return read_count("--rounds", optarg, &o->rounds);
    case OPT_BACKEND:
        if (!read_word("--backend", optarg, backends, COUNT_OF(backends), &i)) return false;
        o->backend = (weft_backend)i;
        return true;
    case OPT_ISA:
        if (!read_word("--isa", optarg, isas, COUNT_OF(isas), &i)) return false;
        o->isa = (weft_isa)i;
        return true;
    default: break;
    }
    if (c < OPT_SHOW) return false;
    o->show |= 1u << (c - OPT_SHOW);
    return true;
}

static bool bad_option(char **argv) {
    const char *arg = argv[optind - 1];
    if (optopt && optopt < 256)
        cmd_fail("-%c: %s", optopt,
                 optopt == 'o' ? "a file should follow" : "no such option; weft --help lists them");
    else
        cmd_fail("%s: no such option, or its value is missing; weft --help lists them "
                 "(an expression that begins with -- goes behind a lone --)",
                 arg);
    return false;
}

// ---- verbs ------------------------------------------------------------------------------------
static const struct verb {
    const char *name;
    int (*run)(struct options *o);
    bool expr, shapes; // takes an expression; looks at shapes only
} verbs[] = {{"eval", cmd_eval, true, false},
             {"save", cmd_save, true, true},
             {"explain", cmd_explain, true, true},
             {"bench", cmd_bench, true, false},
             {"ops", cmd_ops, false, false},
             {"info", cmd_info, false, false}};

// An expression such as '-x' or '--2*x' right after the verb is no option: those have letters.
static bool signed_expression(const struct verb *v, int argc, char **argv) {
    const char *s = argc > 1 ? argv[1] : "";
    if (!v->expr || s[0] != '-' || !s[1] || strcmp(s, "-h") == 0) return false;
    if (s[1] == '-') return s[2] && !(s[2] >= 'a' && s[2] <= 'z');
    return s[1] != 'o';
}

// Options and arguments in any order; after "--" only arguments.
static bool read_arguments(struct options *o, const struct verb *v, int argc, char **argv,
                           bool *help) {
    int c;
    opterr = 0;
    if (signed_expression(v, argc, argv)) o->expr = argv[optind++];
    while ((c = getopt_long(argc, argv, ":o:h", long_options, NULL)) != -1) {
        if (c == '?' || c == ':') return bad_option(argv);
        if (c == 'h') {
            *help = true;
            return true;
        }
        if (!read_option(o, c)) return false;
    }
    if (!v->expr)
        return optind == argc ||
               (cmd_fail("'%s': %s takes no argument", argv[optind], v->name), false);
    if (o->graph && (v->run != cmd_eval || o->expr))
        return cmd_fail("--graph: only for eval, in place of an expression"), false;
    if (!o->graph && !o->expr && optind == argc)
        return cmd_fail("%s: an expression should follow", v->name), false;
    if (!o->graph && !o->expr) o->expr = argv[optind++];
    for (; optind < argc; optind++)
        if (!input_add(&o->inputs, argv[optind], v->shapes)) return false;
    return true;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (!*name || strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0 ||
        strcmp(name, "help") == 0) {
        fputs(usage, *name ? stdout : stderr);
        return *name ? 0 : EXIT_BAD;
    }
    if (strcmp(name, "--version") == 0) {
        printf("weft %s\n", weft_version());
        return 0;
    }
    size_t i = 0;
    while (i < COUNT_OF(verbs) && strcmp(verbs[i].name, name) != 0)
        i++;
    if (i == COUNT_OF(verbs))
        return cmd_fail("'%s' is not eval, save, explain, bench, ops or info", name);
    struct options o = {.rounds = 9};
    bool help = false;
    o.out = cmd_alloc((size_t)argc * sizeof *o.out);
    int status = EXIT_BAD;
    if (read_arguments(&o, &verbs[i], argc - 1, argv + 1, &help)) {
        if (help) fputs(usage, stdout);
        status = help ? 0 : verbs[i].run(&o);
    }
    inputs_free(&o.inputs);
    free(o.out);
    return status;
}
