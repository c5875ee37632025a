"""Evaluation of a call with arrays: compiled code, or the reference.

quantities  what each quantity is: a formulation and its loads; the table of methods
arguments   what the user handed over, checked; one state or a batch by the reference
body_loops  long mechanisms: the walks over the bodies as loops of machine code
kernels     where the two halves meet: the quantities of a model, compiled
calls       quantities of a state: compiled code or the reference, arguments checked and explained
operators   matrices of long mechanisms by products: derivatives, H, its inverse; H as a sparse matrix
thin        methods whose calls go straight to machine code, from the second one of each kind on
answers     which kernel gives exactly the result of a method, for calls that go straight to it
tensors     dynamics as functions of torch tensors and JAX arrays

A module imports only what stands above it; a test checks it.
"""
