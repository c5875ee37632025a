"""Recorded functions as formulas a person can read: knows the compiler's graph, and no mechanics.

In the order of use:

    polynomial   the normal form: sums of products of symbols, sines and cosines; programs expanded to it
    matrices     exact quotients of normal forms; determinants and adjugates of small matrices without a division
    folding      from the normal form to the one with the fewest terms; normal forms over denominators that have names
    formula      a formula as a tree, and its symbols
    factoring    from the normal form to a formula, common factors and squares taken out
    sharing      sums that occur several times in long formulas, given names; sums written by the name they have
    terms        a program as a list of short named terms, where the normal form would be too long
    printing     formulas as text, LaTeX and MathML
    pages        formulas in lines that fit on paper, and pages of them as text, LaTeX and Markdown
    sheet        named formulas with their symbols: text, LaTeX, Markdown, SymPy, C, CasADi, numbers
    reading      from a program to a sheet
"""
