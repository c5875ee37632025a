"""From a Python function over arrays to machine code. Knows no mechanics.

    operations   what a node can be, and what it means           graph        hash-consed nodes
    rules        rewrites applied while a node is built          trace        run a function on symbols
    program      inputs, outputs, nodes in order                 verify       is it well formed?
    interpret    the meaning, slowly                             derivative   forward and reverse
    schedule     order, and cutting into bounded pieces          llvm         LLVM text, scalar or SIMD
    sincos       sine and cosine as polynomials                  layout       rows of a batch ↔ lanes
    jit          text → object code → functions                  entry        the thin call for one state
    cache        object code kept between runs                   kernel       what a user holds
    export/      C99, SymPy, LaTeX, CasADi                       rolled       a loop over items

See docs/compiler.md.
"""
