"""Symbols of the reader in place of those of the library: `equations(m, symbols={"m_1": "M"})`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinpair.closed_form.letters import Letter
from kinpair.closed_form.sheet import Sheet
from kinpair.errors import InputError, offered

SYMBOL = re.compile(r"([A-Za-z]+)(?:_?([0-9][A-Za-z0-9]*|(?<=_)[A-Za-z0-9]+))?")
WAVE = re.compile(r"[cs][0-9]+")  # c12 is cos(q1 + q2)


def key_of(letter: Letter) -> str:
    """Return the name of a symbol with its index after an underscore: m_1."""
    return f"{letter.base}_{letter.index}" if letter.index else letter.base


def renamed(sheet: Sheet, symbols: Mapping[str, str], *, known_only: bool = False) -> Sheet:
    """Return the sheet with other symbols, by their names on it: {"m_1": "M", "q_1": "phi"}; m1 is m_1.

    The rate of a coordinate follows its coordinate. `known_only` leaves out names that are not on the sheet.
    """
    if not symbols:
        return sheet
    letters = dict(sheet.alphabet.letters)
    keys = {key_of(letter): key for key, letter in letters.items() if not letter.accent}
    plain = {name.replace("_", ""): name for name in keys}
    for name, symbol in symbols.items():
        known = name if name in keys else plain.get(name)
        if known is None and known_only:
            continue
        if known is None:
            raise InputError(
                f"{sheet.name}: symbols has {name!r}, which is not in these equations; "
                f"{offered(str(name), 'symbols', keys)}",
                symbol=name,
            )
        own, old = _parts(sheet.name, name, symbol), letters[keys[known]]
        for key, letter in sheet.alphabet.letters.items():
            if (letter.base, letter.index) == (old.base, old.index):
                letters[key] = replace(letter, base=own[0], index=own[1])
    _check_different(sheet, letters)
    return replace(sheet, alphabet=replace(sheet.alphabet, letters=letters))


def _parts(owner: str, name: str, symbol: Any) -> tuple[str, str]:
    match = SYMBOL.fullmatch(symbol) if isinstance(symbol, str) else None
    if match is None:
        raise InputError(
            f"{owner}: symbols has {symbol!r} for {name!r}; give letters and an index after an underscore, 'M' or "
            "'phi_1'",
            symbol=name,
        )
    return match[1], match[2] or ""


def _check_different(sheet: Sheet, letters: Mapping[str, Letter]) -> None:
    taken = {name: "a named term" for name, _ in sheet.definitions}
    for key, letter in letters.items():
        if letter.text in taken or (letter != sheet.alphabet.letters[key] and WAVE.fullmatch(letter.text)):
            other = taken.get(letter.text, "a cosine or sine")
            raise InputError(
                f"{sheet.name}: symbols gives {letter.text!r} to {letter.meaning or 'a rate'}, and {other} has it; "
                "choose another",
                symbol=letter.text,
            )
        taken[letter.text] = letter.meaning or "a rate"
