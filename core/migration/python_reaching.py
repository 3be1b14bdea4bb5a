"""Which bindings of a name can still hold where it is used: those that no later one has always replaced by then."""

from __future__ import annotations

import ast
from collections.abc import Container

from core.migration.python_tree import Tree

AROUND = (ast.For, ast.AsyncFor, ast.While)


def reaching(module: Tree, name: ast.Name, found: list[ast.AST | str]) -> list[ast.AST | str]:
    """The bindings that can still hold at a use: those from the last one on that is always met before it.

    All of them where the use is in a loop that this one is not in, as later ones of the loop reach it too.
    """
    uses: dict[ast.AST, ast.AST] = {}  # by holder, its part that leads to the use
    below: ast.AST = name
    for up in module.above(name):
        uses[up] = below
        below = up
    last: ast.stmt | None = None
    branches: dict[ast.If, set[str]] = {}
    for bound in found:
        if isinstance(bound, str | ast.arg):
            continue
        statement = module.statement(getattr(bound, "whole", bound))
        holder = module.parent(statement)
        if isinstance(statement, ast.Assign) and isinstance(holder, ast.If) and holder not in uses:
            both = _in_all_branches(module, holder, statement, branches)
            if both is None:
                continue
            statement, holder = both, module.parent(both)
        if not isinstance(statement, ast.stmt) or holder not in uses or statement is uses[holder]:
            continue
        if isinstance(statement, ast.For | ast.AsyncFor | ast.AugAssign | ast.With | ast.AsyncWith):
            continue
        if statement.lineno < name.lineno and _same_block(holder, statement, uses[holder]):
            last = statement if last is None or statement.lineno > last.lineno else last
    if last is None:
        return _before(module, name, found, uses)
    around = module.parent(last)
    for up in uses:
        if up is around:
            break
        if isinstance(up, ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef):
            return found
    lines = range(last.lineno, name.lineno)
    return [b for b in found if getattr(getattr(b, "whole", b), "lineno", 0) in lines] or found


def _before(module: Tree, name: ast.Name, found: list[ast.AST | str], uses: Container[ast.AST]) -> list[ast.AST | str]:
    """Without the bindings that come after a use, unless a loop or another function brings them round to it."""
    kept = []
    for bound in found:
        later = not isinstance(bound, str) and getattr(getattr(bound, "whole", bound), "lineno", 0) > name.lineno
        if later and isinstance(bound, ast.AST):
            statement = module.statement(getattr(bound, "whole", bound))
            round_again = (up in uses and isinstance(up, AROUND) for up in module.above(statement))
            if module.scope(statement) is module.scope(name) and not any(round_again):
                continue
        kept.append(bound)
    return kept or found


def _in_all_branches(
    module: Tree, holder: ast.If, statement: ast.stmt, branches: dict[ast.If, set[str]]
) -> ast.If | None:
    """The outermost condition all of whose branches bind a name, once the last of them has been met."""
    here: ast.stmt = statement
    up: ast.AST | None = holder
    outermost = None
    while isinstance(up, ast.If):
        bound = branches.setdefault(up, set())
        bound.add("else" if here in up.orelse else "body")
        if len(bound) < 2:
            break
        outermost = here = up
        up = module.parent(up)
    return outermost


def _same_block(holder: ast.AST | None, first: ast.stmt, second: ast.AST) -> bool:
    """Whether two parts of a node are statements of the same list: its body, or its else."""
    if not isinstance(second, ast.stmt):
        return False
    for field in ("orelse", "finalbody", "handlers"):
        block = getattr(holder, field, None)
        if isinstance(block, list) and block and block[0].lineno <= second.lineno:
            return bool(block[0].lineno <= first.lineno)
    return True
