"""Loops of run-time size as machine code: a restricted Python function, translated to LLVM. In order of use:

    kinds        what a value is: a number, a whole number, a truth value, a view of an array
    lapack       linear solves of any size by the LAPACK that SciPy brings
    calls        a call as instructions
    expressions  an expression as instructions
    statements   a function body as instructions
    functions    a function and all it calls as one module; the compiled function

The function runs unmodified in Python, as the reference. docs/compiler.md has the rules.
"""
