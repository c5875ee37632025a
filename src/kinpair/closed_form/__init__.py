"""Recorded functions as formulas a person can read: knows the compiler's graph, and no mechanics.

In the order of use:

    angles       sines and cosines of sums of angles: products as sums, derivatives
    polynomial   sums of products of letters, sines and cosines: the normal form
    expansion    a program, expanded to normal forms
    matrices     determinants and adjugates of small matrices of normal forms, without a division
    division     exact quotients of normal forms
    ratios       normal forms over denominators that have names
    phases       a cosine and a sine as one wave with a constant phase
    terms        a program as a list of short named terms, where the normal form would be too long
    folding      from the normal form to the one with the fewest terms
    formula      a formula as a tree, common factors taken out
    sharing      sums that occur several times in long formulas, given names
    letters      what a symbol is called on paper, what it means and what it is worth
    printing     formulas as text and LaTeX
    languages    formulas as SymPy expressions and as a program again, for C and CasADi
    sheet        named formulas with their letters: text, LaTeX, Markdown, SymPy, C, CasADi, numbers
    reading      from a program to a sheet
"""
