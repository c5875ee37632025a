"""How wide a formula is on paper: LaTeX at 10 pt, estimated from the widths of Computer Modern, and never too small."""

from __future__ import annotations

import re
from functools import lru_cache

TEXT_WIDTH = 345.0  # of the class article [pt]
SCRIPT = 0.75  # of a full letter: an index or exponent, with the space behind it
BAR = 2.4  # beside a fraction [pt]
SIGN = 12.3  # + or − between two terms, with its spaces [pt]
DIGIT, COMMA, BRACKET, OTHER = 5.0, 4.5, 4.7, 6.0  # [pt]
LETTERS = {  # as many points
    3.6: "l",
    4.5: "ijtI",
    5.3: "abcdeoqrsz",
    6.2: "fghknpuvxy",
    8.0: "JFPSTVYLBAERU",
    9.4: "CDGHKNOQXZmw",
    11.0: "MW",
}
BY_LETTER = {letter: width for width, those in LETTERS.items() for letter in those}
COMMANDS = {
    ",": 1.7,
    "quad": 10.0,
    "cdot": 7.3,
    "left": 0.0,
    "right": 0.0,
    "dot": 0.0,
    "ddot": 0.0,
    "mathrm": 0.0,
    "operatorname": 0.0,
    "sqrt": 9.5,
    "sin": 14.0,
    "cos": 15.5,
}
SYMBOL = 6.7  # any other command: a Greek letter, ln, min
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([_^])|([{}])|\s*([+-])\s*|([^\s])")


@lru_cache(maxsize=4096)  # the same factors come again and again
def latex_width(text: str) -> float:
    """Points of a piece of LaTeX in a displayed line."""
    return _Measure(text).group()


class _Measure:
    """Reads LaTeX once from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.groups() for match in TOKEN.finditer(text)]
        self._at = 0

    def group(self) -> float:
        """What stands before the brace that closes, or before the end."""
        total = 0.0
        while self._at < len(self._tokens) and self._tokens[self._at][2] != "}":
            total += self._next()
        self._at += 1
        return total

    def _next(self) -> float:
        command, script, brace, sign, letter = self._tokens[self._at]
        self._at += 1
        if script:
            return SCRIPT * self._next()
        if brace:
            return self.group()
        if command == "frac":
            return BAR + max(self._next(), self._next())
        if command:
            return COMMANDS.get(command, SYMBOL)
        return SIGN if sign else _of_letter(letter or "")


def _of_letter(letter: str) -> float:
    if letter.isdigit():
        return DIGIT
    return {",": COMMA, ".": COMMA, "(": BRACKET, ")": BRACKET}.get(letter, BY_LETTER.get(letter, OTHER))
