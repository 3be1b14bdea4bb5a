"""What rules find in a few lines of code."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule


def hits(
    rules: Iterable[Rule], code: str, path: str = "train.py", local: Iterable[str] = (), beside: Iterable[str] = ()
) -> list[Hit]:
    """All hits of ``rules`` in ``code``; ``local`` are modules of the same code base, ``beside`` paths next to it."""
    module = Module(path, dedent(code).strip("\n"), local, beside)
    return [hit for rule in rules for node in module.nodes(*rule.types) for hit in rule.find(module, node)]


def places(rules: Iterable[Rule], code: str, **around: object) -> list[str]:
    """Pattern and line of each hit, ``"P01:3"``, sorted by line."""
    found = {(hit.line, hit.pattern_id) for hit in hits(rules, code, **around)}  # type: ignore[arg-type]
    return [f"{pattern}:{line}" for line, pattern in sorted(found)]
