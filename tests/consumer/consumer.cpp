// SPDX-License-Identifier: MIT
// The same from C++17, with the idioms that C++ users reach for: owners that free, vectors as memory.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include <weft/weft.h>

struct free_ctx {
    void operator()(weft_ctx *c) const { weft_ctx_free(c); }
};
struct free_graph {
    void operator()(weft_graph *g) const { weft_graph_free(g); }
};

int main(int argc, char **argv) {
    weft_ctx *made = nullptr;
    weft_ctx_opts opts{};
    opts.size = sizeof opts;
    opts.backend = WEFT_BACKEND_JIT;
    if (weft_ctx_new(&made, &opts)) return 1;
    std::unique_ptr<weft_ctx, free_ctx> ctx(made);
    std::unique_ptr<weft_graph, free_graph> g(weft_graph_new(ctx.get()));

    std::vector<float> a(5000), b(5000);
    for (std::size_t i = 0; i < a.size(); i++)
        a[i] = 0.5f * static_cast<float>(i);
    const int64_t n = static_cast<int64_t>(a.size());
    weft_array in = weft_dense(WEFT_F32, a.data(), 1, &n), out = weft_dense(WEFT_F32, b.data(), 1, &n);
    weft_expr *x = weft_from(g.get(), &in);
    weft_expr *f = weft_sqrt(weft_add(weft_mul(x, x), weft_float(g.get(), 1)));
    if (weft_eval(f, &out, nullptr)) {
        std::fprintf(stderr, "consumer: %s\n", weft_graph_error(g.get()));
        return 1;
    }
    for (std::size_t i = 0; i < a.size(); i++) {
        const float square = a[i] * a[i];
        if (b[i] != std::sqrt(square + 1.0f)) return 1;
    }
    weft_stats s{};
    weft_ctx_stats(ctx.get(), &s, sizeof s);
    const char *tier = s.runs_jit ? "jit" : "interp";
    std::printf("weft %s from C++: %s\n", weft_version(), tier);
    return argc > 1 && std::strcmp(argv[1], tier) != 0;
}
