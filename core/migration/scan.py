"""The scan of a code base: rules over its Python files, words over the others; nothing is run, imported or written.

What a file says of itself is not enough in two cases, so all paths are known before the first file is read: a module
of the code base may be named like a package, and the CUDA half of a pair needs no port where the other half is there.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from core.messages import Message, message
from core.migration import (
    rules_compile,
    rules_cuda,
    rules_device,
    rules_dist,
    rules_kernel,
    rules_peak,
    rules_precision,
    rules_shape,
    rules_stack,
    rules_state,
    rules_sync,
)
from core.migration.finding import Finding, Hit, Scan, Severity, Skipped, Target
from core.migration.paths import constants, paths
from core.migration.patterns import Pattern, patterns
from core.migration.python_module import Module, Rule, words
from core.migration.python_parse import parse, uncollected
from core.migration.references import PACKAGES, forget
from core.migration.source_file import SourceFile, in_short
from core.migration.text_rules import is_jax_code_base, text_hits

if TYPE_CHECKING:
    from core.catalogue import Catalogue

RULES: tuple[Rule, ...] = (
    *rules_device.RULES,
    *rules_cuda.RULES,
    *rules_peak.RULES,
    *rules_dist.RULES,
    *rules_precision.RULES,
    *rules_sync.RULES,
    *rules_shape.RULES,
    *rules_kernel.RULES,
    *rules_compile.RULES,
    *rules_state.RULES,
    *rules_stack.RULES,
)

# Without one of these words a Python file has nothing that a rule looks for.
WORDS = words(
    "torch cuda triton nccl deepspeed xformers bitsandbytes apex flash transformer_engine accelerat transformers "
    "lightning local_rank gpu vllm megatron nvidia nvml cupy tensor world_size device"
)
FOLDERS_KEPT = 32  # whose modules are known at a time
BAD_LINES = 20  # of a notebook, that are left out for the rest to be read
PARSED_AGAIN = 2_000_000  # characters at most that are parsed for that
LARGE = 50_000  # characters of a file, from which one looks up within it
LOOKED_AT = 256  # files between two looks at whether to go on, where little is done with each
MOST = 0.5  # share of the Python that could not be parsed, from which it is said of the whole
LIGHTER: dict[Severity, Severity] = {"B": "H", "H": "M", "M": "L", "L": "L"}


def scan(
    files: Iterable[SourceFile | Skipped],
    catalogue: Catalogue,
    target: Target | None = None,
    progress: Callable[[int], bool] | None = None,
) -> Scan:
    """Findings of a code base, sorted by path, line and pattern.

    ``target`` is where the code is to run: it changes severities, never what is found. ``progress`` is told the
    number of files done, while a large one is read too, and stops the scan by saying False; that file then counts as
    not read. A file that cannot be parsed is skipped with the reason.
    """
    sources: list[SourceFile] = []
    skipped: list[Skipped] = []
    for file in files:
        if isinstance(file, Skipped):
            skipped.append(file)
        else:
            sources.append(file)
    known = patterns(catalogue)
    found: list[Finding] = []
    done = read = lines = code_lines = python = unparsed = 0
    stopped = False

    def look_up() -> None:
        if progress is not None and not progress(done):
            raise _Stopped

    def watched() -> Iterator[SourceFile]:
        for n, source in enumerate(sources, start=1):
            if not n % LOOKED_AT:
                look_up()
            yield source

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the code that is read: a backslash too many
            base = CodeBase((source.path for source in sources), watched())
            of_jax = is_jax_code_base(watched())
            for source in sources:
                look_up()
                is_code = source.kind in ("python", "notebook", "cuda")
                tells = is_code or not of_jax  # JAX runs elsewhere, whatever launches it here
                hits = base.hits(source, look_up) if tells else ()
                python += source.kind in ("python", "notebook")
                if isinstance(hits, Message):
                    skipped.append(Skipped(in_short(source.path), hits))
                    unparsed += 1
                else:
                    found += _findings(source, hits, known)
                    here = _lines(source.text)
                    read += 1
                    lines += here
                    code_lines += here if is_code else 0
                done += 1
    except _Stopped:
        stopped = True
    finally:
        forget()  # nothing of the code stays
    if unparsed > 1 and unparsed >= MOST * python:
        skipped.insert(0, Skipped("", message("scan_unparsed", "warning", n=unparsed, of=python)))
    found.sort(key=lambda f: (f.path, f.line, f.pattern_id))
    return aimed(Scan(tuple(found), read, lines, tuple(skipped), stopped, code_lines), catalogue, target)


def _lines(text: str) -> int:
    """Lines of a text; a line feed ends one, and begins none where it is the last character."""
    return text.count("\n") + (not text.endswith("\n") and bool(text))


class _Stopped(Exception):
    """The reader wants no more of a scan."""


def aimed(found: Scan, catalogue: Catalogue, target: Target | None) -> Scan:
    """A scan with the severities that its findings have on the way to ``target``; None: to PyTorch/XLA.

    Where most of a family's code is left behind, what stands in its way weighs a grade less.
    """
    known = patterns(catalogue)
    factors = next((path.family_factors for path in paths(catalogue) if path.id == target), {})
    most_left = constants(catalogue)["left_behind_share"].likely
    left = {family for family, factor in factors.items() if factor <= most_left}

    def severity(f: Finding) -> Severity:
        here = known[f.pattern_id].severity(f.hot)
        return LIGHTER[here] if f.family in left else here

    return replace(
        found, findings=tuple(f if (s := severity(f)) == f.severity else replace(f, severity=s) for f in found.findings)
    )


def _go_on() -> None:
    """Nobody asks for an end."""


class CodeBase:
    """The paths of a code base, and what its files say in their light."""

    def __init__(self, paths: Iterable[str], sources: Iterable[SourceFile] = ()) -> None:
        """Know the paths, before the first file is read; ``sources`` tell which folders are packages all the same."""
        self._beside: dict[str, set[str]] = defaultdict(set)
        python = [path for path in paths if path.endswith(".py")]
        for path in python:
            self._beside[path.rpartition("/")[0]].add(path)
        packages = {folder for folder, held in self._beside.items() if any(p.endswith("/__init__.py") for p in held)}
        root = _common_folder(python)
        while root and root[:-1] in packages:  # a package's name is part of its modules'
            root = root[: root[:-1].rfind("/") + 1]
        self._packages = packages
        inner = {folder.removeprefix(root) for folder in packages}
        roots = {folder for folder in inner if "/" not in folder}
        roots |= {folder.removeprefix("src/") for folder in inner if re.fullmatch(r"src/[^/]+", folder)}
        own = {path.removeprefix(root) for path in python}
        self._top = roots | {path[:-3] for path in own if "/" not in path}
        self._top |= _without_init(own | set(python), sources, self._top)
        self._seen: dict[str, tuple[frozenset[str], frozenset[str]]] = {}

    def _seen_from(self, folder: str) -> tuple[frozenset[str], frozenset[str]]:
        """Modules of the code base that a file in a folder can import, and the paths beside it.

        Kept for the folders last asked for, as all of 20,000 files may lie in one.
        """
        if folder not in self._seen:
            beside = frozenset(self._beside.get(folder, ()))
            local = frozenset(self._top)
            if folder not in self._packages:  # a script sees the modules beside it
                local |= {path.rpartition("/")[2][:-3] for path in beside}
            if len(self._seen) >= FOLDERS_KEPT:
                self._seen.clear()
            self._seen[folder] = local, beside
        return self._seen[folder]

    @uncollected()
    def hits(self, source: SourceFile, look_up: Callable[[], None] = _go_on) -> tuple[Hit, ...] | Message:
        """What the rules find in a file, or why it could not be read; ``look_up`` may raise to end it."""
        told = tuple(text_hits(source))
        if source.kind not in ("python", "notebook"):
            return told
        text = source.text.lower()
        if not any(word in text for word in WORDS):
            return told
        if len(text) < LARGE:  # done at once
            look_up = _go_on
        local, beside = self._seen_from(source.path.rpartition("/")[0])
        try:
            code = source.text if source.kind == "python" else parsable(source.text, look_up)
            look_up()
            module = Module(source.path, code, local, beside)
        except SyntaxError as error:
            return message("skip_not_python", line=error.lineno or 1)
        except (ValueError, RecursionError, MemoryError):
            return message("skip_nested_code")
        try:
            if module.is_jax or module.is_cuda_twin:
                return ()
            look_up()
            return (*told, *module.found(RULES, look_up))
        finally:
            module.release()


def _without_init(paths: set[str], sources: Iterable[SourceFile], known: set[str]) -> set[str]:
    """Packages of a code base that have no ``__init__.py``: a folder named like a package of kernels is that
    package; one named like another that rules look for, if a module that some file imports from it lies there, as a
    folder of examples for it has the same name."""
    folders = {path.removeprefix("src/").partition("/")[0] for path in paths if "/" in path.removeprefix("src/")}
    own = folders & rules_kernel.KERNELS
    asked = (folders & PACKAGES) - known
    if not asked:
        return own
    imported = re.compile(
        rf"^[ \t]*(?:from|import)[ \t]+((?:{'|'.join(map(re.escape, sorted(asked)))})(?:\.\w+)+)", re.M
    )
    for source in sources:
        for dotted in imported.findall(source.text) if source.kind in ("python", "notebook") else ():
            near = dotted.replace(".", "/")
            if not paths.isdisjoint((f"{near}.py", f"src/{near}.py")):
                own.add(dotted.partition(".")[0])
    return own


def _common_folder(paths: list[str]) -> str:
    """The folders that all paths have in common, as an archive of a repository has one; ends with a slash."""
    parts = [path.split("/")[:-1] for path in paths]
    same = 0
    for names in zip(*parts, strict=False):
        if len(set(names)) > 1:
            break
        same += 1
    return "".join(f"{name}/" for name in parts[0][:same]) if parts else ""


def parsable(text: str, look_up: Callable[[], None] = _go_on) -> str:
    """The text of a notebook without the lines that do not parse: a cell may stop in the middle of a thought."""
    lines = text.split("\n")
    for _ in range(min(BAD_LINES, 1 + PARSED_AGAIN // (len(text) + 1))):
        look_up()
        try:
            parse("\n".join(lines))
        except SyntaxError as error:
            at = (error.lineno or 1) - 1
            if at >= len(lines) or not lines[at]:
                break
            lines[at] = ""
        else:
            break
    return "\n".join(lines)


def _findings(source: SourceFile, hits: Iterable[Hit], known: Mapping[str, Pattern]) -> Iterator[Finding]:
    """One finding for each line and pattern: hot if any of its hits is, as sure as the surest."""
    best: dict[tuple[int, str], Hit] = {}
    for hit in hits:
        line = source.line_of(hit.line) if source.line_of is not None else hit.line
        before = best.get((line, hit.pattern_id))
        if before is None or (hit.hot, hit.confidence) > (before.hot, before.confidence):
            best[line, hit.pattern_id] = hit
    for (line, pattern_id), hit in best.items():
        p = known[pattern_id]
        yield Finding(
            source.path, line, pattern_id, p.family, p.severity(hit.hot), hit.confidence, hit.hot, hit.guarded
        )
