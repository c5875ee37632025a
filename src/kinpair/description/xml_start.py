"""Start of an XML file: harmless slips that a strict parser refuses are corrected, each with a warning."""

from __future__ import annotations

import re

from kinpair.description.warning_list import WarningList

_START = re.compile(r"(?P<space>[ \t\r\n\ufeff]*)(?P<declaration><\?xml\s[^>]*\?>)")
_VERSION = re.compile(r"""(?<=version)\s*=\s*["'](?P<version>[^"']*)["']""")


def declaration_line(text: str) -> int:
    """The line on which the first thing of a text stands."""
    return 1 + text[: len(text) - len(text.lstrip("\ufeff \t\r\n"))].count("\n")


def mended_start(text: str, source: str, warnings: WarningList) -> str:
    """Return the text with <?xml ...?> at its very start and of version 1.0; every element stays on its line."""
    start = _START.match(text)
    if start is None:
        return text
    where = f"{source}:{declaration_line(text)}"
    space, declaration = start["space"], start["declaration"]
    if space.strip("\ufeff") or space.count("\ufeff") > 1:
        warnings.add(
            f"{where}: has space before <?xml ...?>, which belongs at the very start of a file; read without it"
        )
    written = _VERSION.search(declaration)
    if written and written["version"] != "1.0":
        warnings.add(f"{where}: declares XML of version {written['version'][:20]!r}; read as 1.0")
        declaration = f'{declaration[: written.start()]}="1.0"{declaration[written.end() :]}'
    return declaration + space.replace("\ufeff", "") + text[start.end() :]
