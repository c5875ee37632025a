"""The mechanics: one formulation a file, over arrays of floats, symbols or columns of a batch.

No branch on a value, no write into an array, no knowledge of a compiler. Loads reach a formulation as
arguments: `w_ext`, the wrench applied to each body, at O_i, in axes of the body.
"""
