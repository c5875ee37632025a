"""Programs written in other languages: C99, SymPy, LaTeX, CasADi."""
