/* SPDX-License-Identifier: MIT
 *
 * weft/graph_file.h: graphs as bytes. Included by weft.h.
 *
 *     void *bytes;
 *     size_t size;
 *     weft_graph_save(1, &f, &bytes, &size);               what f needs, without any array's values
 *     ...
 *     weft_expr *again;
 *     int n;
 *     if (weft_graph_load(h, bytes, size, 1, &again, &n))  into a graph of any context, on any machine
 *         puts(weft_graph_error(h));
 *     weft_compile(1, &again, &program);                   its inputs are bound by weft_run
 *
 * The format is described in docs/graph-format.md. It is versioned and checksummed, and says the same on every
 * machine. A file may come from anybody: loading builds nodes through the checks that the builders make, runs
 * nothing, reads nothing outside the bytes, and takes memory in proportion to their number. The checksum is
 * against accidents, not against an enemy. What a loaded graph computes when it is evaluated, and how much
 * memory and time that takes, is its author's choice, as with any graph: see SECURITY.md.
 */
#ifndef WEFT_GRAPH_FILE_H
#define WEFT_GRAPH_FILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the roots, of one graph, need: all inputs of the graph with their names, types and extents, constants,
 * operations. Arrays given with weft_from are not written: they become further inputs, called from0, from1, ...
 * in order of first use, whose extents are fixed. Equal graphs give equal bytes. *bytes is memory of the
 * context, freed with weft_bytes_free. WEFT_ENOMEM, WEFT_EINVAL (no root, roots of different graphs),
 * WEFT_EUNSUPPORTED (an operation that cannot be loaded), or the graph's own error; then *bytes is NULL. */
WEFT_API weft_status weft_graph_save(int n, weft_expr *const *roots, void **bytes, size_t *size);
WEFT_API void weft_bytes_free(weft_ctx *ctx, void *bytes, size_t size);

/* Takes size bytes; false ends the writing. */
typedef bool weft_write_fn(void *ud, const void *bytes, size_t size);
/* As weft_graph_save, to a function. WEFT_ESYS when it returned false. */
WEFT_API weft_status weft_graph_save_to(int n, weft_expr *const *roots, weft_write_fn *write, void *ud);
/* As weft_graph_save, to a file that appears complete under its name or not at all: a failure, a full disk or
 * the end of the process leaves what was there. WEFT_ESYS with the system's sentence. */
WEFT_API weft_status weft_graph_save_file(int n, weft_expr *const *roots, const char *path);

/* Puts a saved graph into g, which need not be empty: its inputs are numbered behind those of g. The first max
 * roots go to roots, their number in the file to *n (NULL: not wanted). Anything that is not of the format, of
 * another version, or could not have been built, is WEFT_EINVAL or the status a builder would have given, with a
 * sentence in weft_graph_error; g has then an error as after any builder, and weft_graph_reset makes it usable.
 * bytes are not needed afterwards. */
WEFT_API weft_status weft_graph_load(weft_graph *g, const void *bytes, size_t size, int max, weft_expr **roots,
                                     int *n);
/* From a file of at most 1 GiB; WEFT_ESYS when it cannot be read. */
WEFT_API weft_status weft_graph_load_file(weft_graph *g, const char *path, int max, weft_expr **roots, int *n);

/* Inputs of a graph, in the order in which weft_run takes them. */
WEFT_API int weft_graph_inputs(const weft_graph *g);
/* Name, type and shape of input i (data is NULL). The name lives until the graph is reset. NULL and an array of
 * rank -1 for another i. */
WEFT_API const char *weft_graph_input_name(const weft_graph *g, int i);
WEFT_API weft_array weft_graph_input_array(const weft_graph *g, int i);

#ifdef __cplusplus
}
#endif
#endif
