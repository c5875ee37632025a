"""Arrays whose entries are floats, symbols, or columns of a batch, and linear algebra over them."""
