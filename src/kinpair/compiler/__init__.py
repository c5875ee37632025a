"""Compilation of a Python function over arrays to machine code. Knows no mechanics. In order of use:

    operations     what a node can be, and what it means
    graph, rules   hash-consed nodes, and the rewrites applied while one is built
    program        inputs, outputs, nodes in order, their text and meaning; trace makes one and checks it
    derivative     its Jacobians, forward and reverse
    schedule       the order of the nodes, and cutting into pieces
    target         the machine at hand, and how a value is written for it
    instructions   a node as a line of LLVM text; sincos: sine and cosine
    rolled         loops over items instead; tape, tape_layout: recorded from steps;
                   rolled_derivative: products with their Jacobians
    llvm           whole modules: a schedule as functions, one state, or the rows of a batch in lanes
    loops/         loops of run-time size: restricted Python functions as LLVM text
    time_loop/     many steps of a recorded flow in one call
    background     code made while its caller goes on, and who waits for it
    jit, cache     text → object code → functions; object code kept between runs
    python_objects where machine code finds what it reads of objects of Python and NumPy
    entry          the thin call from Python; entry_table: how a call is written, what it knows of that
    arguments      the checks when it cannot be taken
    machine_code   compiled code and how it is run;  making: how it comes to be
    kernel         what a user holds
    export/        C99, SymPy, LaTeX, CasADi

See docs/compiler.md.
"""
