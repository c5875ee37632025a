"""Recorded functions as formulas a person can read: knows the compiler's graph, and no mechanics.

In the order of use:

    angles       sines and cosines of sums of angles: products as sums, derivatives
    polynomial   sums of products of letters, sines and cosines: the normal form
    expansion    a program, expanded to normal forms
    matrices     determinants and adjugates of small matrices of normal forms, without a division
    division     exact quotients of normal forms
    ratios       normal forms over denominators that have names
    phases       a cosine and a sine as one wave with a constant phase
    folding      from the normal form to the one with the fewest terms
    formula      a formula as a tree
    monomials    terms of a sum, and what several of them have in common
    factoring    from the normal form to a formula, common factors and squares taken out
    naming       names for parts of formulas, and what is shorter once parts have names
    probing      sums that are constant, found by trying
    terms        a program as a list of short named terms, where the normal form would be too long
    sharing      sums that occur several times in long formulas, given names; sums written by the name they have
    letters      what a symbol is called on paper, what it means and what it is worth
    printing     formulas as text and LaTeX
    mathml       LaTeX of formulas as MathML, for browsers
    widths       how wide LaTeX is on paper
    breaking     formulas in lines that fit on paper
    pages        a page of formulas as text, LaTeX and Markdown
    languages    formulas as SymPy expressions and as a program again, for C and CasADi
    sheet        named formulas with their letters: text, LaTeX, Markdown, SymPy, C, CasADi, numbers
    reading      from a program to a sheet
"""
