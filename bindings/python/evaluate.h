// SPDX-License-Identifier: MIT
// evaluate in two files: text.c makes programs of texts and operands, evaluate.c runs them into outputs.
#ifndef WEFT_PYTHON_EVALUATE_H
#define WEFT_PYTHON_EVALUATE_H

#include "module.h"

enum { MAX_NAMES = 64, MAX_RESULTS = 8, MAX_ENTRIES = 16, MAX_TEXTS = 512 };
enum operand_kind { ABSENT, LITERAL_INT, LITERAL_FLOAT, LITERAL_BOOL, LITERAL_COMPLEX, BUFFER, MEMORY };
struct operand {
    enum operand_kind kind;
    uint64_t bits[2]; // of a literal: value, or sign and magnitude
    weft_array array;
    Py_buffer view;
    struct memory *memory;
};
struct form { // what of an operand a program depends on
    enum operand_kind kind;
    weft_dtype dtype;
    int rank;
    uint64_t bits[2];
    int64_t *dims;
};
struct entry {
    Py_ssize_t refs;
    struct entry *next;
    struct host *host;
    weft_program *program; // NULL: the extent depends on values, and the text is read again
    int nform, ninput, nresult;
    struct form *form;
    int input[MAX_NAMES];  // operands in the order of the program's inputs
    int cast[MAX_RESULTS]; // type asked for by out, or -1
    weft_casting casting;
    weft_array result[MAX_RESULTS];
    PyObject *shape[MAX_RESULTS], *type[MAX_RESULTS]; // for numpy.empty
};
struct text {
    Py_ssize_t refs;
    char *utf8;
    int n;
    PyObject *name[MAX_NAMES];
    struct entry *entries;
};

// One call of evaluate.
struct job {
    struct text *text;
    PyObject *locals, *globals;
    PyObject *out[MAX_RESULTS];
    int nout;
    struct operand *operand;
    weft_casting casting;
    char order;
    // while the text is read
    struct parser parser;
    struct entry *entry;
    PyObject *unknown;
};

// ---- text.c -------------------------------------------------------------------------------------
struct text *text_of(PyObject *ex); // borrowed from the table of texts; NULL with an exception
void text_drop(struct text *t);
void entry_drop(struct entry *e); // NULL is allowed
bool operand_by_name(struct job *j, int i);
void operand_release(struct operand *o);
// The program of this call's operands and outputs, found or made, one reference. NULL with an exception.
struct entry *entry_for(struct job *j, const weft_array *outs);

#endif
