"""Output for a program: one JSON document, all digits, null for what is not a finite number."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np


def print_json(document: Mapping[str, Any]) -> None:
    """The document on standard output; rows of numbers stay on one line."""
    body = ",\n".join(f"  {json.dumps(key)}: {_text(value)}" for key, value in document.items())
    print(f"{{\n{body}\n}}")


def _text(value: Any) -> str:
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False)


def plain(value: Any) -> Any:
    """Lists, dicts, numbers, texts and null."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
