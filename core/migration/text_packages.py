"""Packages that a code base asks for, and CUDA in their place: requirements, lock files, environments, set-ups."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

from core.migration.finding import Hit
from core.migration.marked_text import Entry, JsonError, json_entries, toml_entries, without_comment, yaml_entries
from core.migration.python_parse import parse

SURE, LIKELY, UNSURE = 0.95, 0.8, 0.6

# Names as PEP 503 writes them; a pattern covers a whole name.
PACKAGES: tuple[tuple[str, str, float], ...] = (
    (
        r"cupy(-.*)?|pycuda|cuda-python|tiny-?cuda-?nn|causal-conv1d|mamba-ssm|cpm-kernels|natten|gsplat|spconv(-.*)?",
        "P10",
        LIKELY,
    ),
    (r"torch-(scatter|sparse|cluster|spline-conv)|pyg-lib|pytorch3d|fbgemm-gpu(-.*)?|minkowskiengine", "P10", UNSURE),
    (r"(pytorch-)?triton(-nightly|-rocm)?|liger-kernel|flash-linear-attention|fla-core|helion|unsloth", "P11", SURE),
    (r"(ring-)?flash-attn(-\d)?|flash-attention|flashinfer(-python)?|sageattention", "P12", SURE),
    (r"xformers", "P13", SURE),
    (r"bitsandbytes(-.*)?", "P14", SURE),
    (r"(nvidia-)?apex", "P15", SURE),
    (r"transformer-engine(?!-jax)(-.*)?|transformerengine", "P16", SURE),
    (r"deepspeed(-.*)?", "P17", SURE),
    (r"auto-gptq|gptqmodel|autoawq(-.*)?|exllamav2", "P38", SURE),
    (r"torchao(-.*)?", "P38", UNSURE),
    (r"megablocks|grouped-gemm|tutel|deep-ep", "P39", SURE),
    (r"vllm|sglang", "P40", SURE),
    (r"accelerate", "P41", LIKELY),
    (r"pynvml|nvidia-ml-py3?|nvtx|gpustat|nvitop", "P43", SURE),
    (r"nvidia-.*|.*-cu1\d\d?|pytorch-cuda|cudatoolkit|cuda-(toolkit|nvcc|runtime|libraries|cudart)(-.*)?", "P54", SURE),
    (r"cudnn|nccl|tensorrt(-.*)?|torch-tensorrt|faiss-gpu(-.*)?|onnxruntime-gpu|tensorflow-gpu", "P54", SURE),
)
_PACKAGE = re.compile("|".join(f"(?P<p{i}>{pattern})" for i, (pattern, _, _) in enumerate(PACKAGES)))
_JAX = re.compile(r"jax.*")  # JAX code runs elsewhere as it is, whatever wheel it asks for
_CUDA_WHEEL = re.compile(r"\+cu1\d\d?(?!\d)|download\.pytorch\.org/whl/(?:[a-z]+/)?cu1\d\d?(?!\d)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_FROM_GIT = re.compile(r"(?:git\+|git@|git://)\S*?/([A-Za-z0-9._-]+?)(?:\.git)?(?:[@#]\S*)?$")
_WHEEL = re.compile(r"(?:^|/)([A-Za-z0-9_.]+)-\d[^/\s]*\.(?:whl|tar\.gz)")
_AT_PLACE = re.compile(r"\s+@\s+|\s*@\s*(?=(?:[a-z]+\+)?(?:https?|ssh|git|file)://)")


def package_pattern(name: str) -> tuple[str, float] | None:
    """The pattern of a package, and how sure it is.

    >>> package_pattern("Flash_Attn"), package_pattern("flash-attn-jax")
    (('P12', 0.95), None)
    """
    plain = re.sub(r"[-_.]+", "-", name).lower()
    found = _PACKAGE.fullmatch(plain) if len(plain) < 100 else None
    if found is None or found.lastgroup is None or _JAX.fullmatch(plain):
        return None
    _, pattern, confidence = PACKAGES[int(found.lastgroup[1:])]
    return pattern, confidence


def requirement_pattern(text: str) -> tuple[str, float] | None:
    """The pattern of a requirement as pip or conda take it, or of a place that holds CUDA wheels.

    >>> requirement_pattern("xformers>=0.0.20; sys_platform == 'linux'"), requirement_pattern("torch==2.4+cu121")
    (('P13', 0.95), ('P54', 0.95))
    """
    text = text.strip()[:2000]
    name = _AT_PLACE.split(text, maxsplit=1)[0]
    found = _NAME.match(name.rsplit("::", 1)[-1])
    from_place = _FROM_GIT.search(text.split()[0] if text else "") or _WHEEL.search(text)
    hit = None
    if from_place is not None and ("://" in name or name.startswith("git") or name.endswith((".whl", ".tar.gz"))):
        hit = package_pattern(from_place[1])
    elif found is not None and "://" not in name:
        hit = package_pattern(found[0])
    if hit is None and _CUDA_WHEEL.search(text) and not (found and _JAX.fullmatch(found[0])):
        return "P54", SURE
    return hit


def hit_of(line: int, found: tuple[str, float] | None) -> Iterator[Hit]:
    """A hit where something was found."""
    if found is not None:
        yield Hit(line, found[0], found[1])


def one_image(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits with the CUDA libraries of a file as one, at the first: one new image replaces them all."""
    said = False
    for hit in hits:
        if hit.pattern_id != "P54" or not said:
            yield hit
        said = said or hit.pattern_id == "P54"


def requirements_hits(text: str) -> Iterator[Hit]:
    """requirements.txt and its like: a requirement a line, lines joined by a backslash."""
    start, joined = 1, ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = without_comment(raw).strip()
        if not joined:
            start = number
        if line.endswith("\\"):
            joined = (joined + " " + line[:-1])[:4000]
            continue
        whole = (joined + " " + line).strip()
        joined = ""
        if whole.startswith(("-f", "--find-links", "-i", "--index-url", "--extra-index-url")):
            if _CUDA_WHEEL.search(whole):
                yield Hit(start, "P54", SURE)
        elif whole.startswith(("-e ", "--editable ")):
            yield from hit_of(start, requirement_pattern(whole.split(None, 1)[1]))
        elif whole and not whole.startswith("-"):
            yield from hit_of(start, requirement_pattern(whole))


def setup_cfg_hits(text: str) -> Iterator[Hit]:
    """setup.cfg: the requirements of its options."""
    section, key = "", ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = without_comment(raw)
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        if line.startswith("["):
            section, key = line.strip().strip("[]"), ""
            continue
        value = line
        if not line[0].isspace():
            key, _, value = line.partition("=")
        wanted = section == "options.extras_require" or (
            section == "options" and key.strip() in ("install_requires", "setup_requires")
        )
        if wanted:
            yield from hit_of(number, requirement_pattern(value))


def toml_hits(path: str, text: str) -> Iterator[Hit]:
    """pyproject.toml, Pipfile and lock files. A package counts once, though it be named for every system and extra."""
    lock = path.lower().endswith(".lock")
    said: set[str] = set()
    for entry in toml_entries(text):
        parts = tuple(part.lower() for part in entry.path)
        name, found = "", None
        if lock:
            if len(parts) == 2 and parts[0] in ("package", "packages") and parts[1] == "name":
                found = package_pattern(entry.value)
        elif parts == ("project", "name"):
            said.add(entry.value.lower())  # extras may name the project itself
        elif _is_array_of_requirements(parts):
            if entry.text and parts[-1].isdigit():
                name, found = _first_word(entry.value), requirement_pattern(entry.value)
        elif (at := _named_in(parts)) is not None and not any(p.isdigit() for p in parts):
            if len(parts) == at + 1 and entry.value.lower() != "false":
                name, found = parts[at], package_pattern(parts[at]) or _wheel(entry.value)
        elif entry.text and parts[-1] in ("url", "index-url", "extra-index-url"):
            found = _wheel(entry.value)
        if not name or name not in said:
            yield from hit_of(entry.line, found)
        if found is not None and name:
            said.add(name)


def _first_word(requirement: str) -> str:
    found = _NAME.match(requirement.strip())
    return found[0].lower() if found is not None else ""


def _wheel(text: str) -> tuple[str, float] | None:
    return ("P54", SURE) if _CUDA_WHEEL.search(text) else None


def _is_array_of_requirements(parts: tuple[str, ...]) -> bool:
    return (
        parts[:2] in (("project", "dependencies"), ("build-system", "requires"))
        or (parts[:2] == ("project", "optional-dependencies") and len(parts) > 2)
        or (parts[0] == "dependency-groups" and len(parts) > 1)
        or parts[:3] in (("tool", "uv", "dev-dependencies"), ("tool", "pdm", "dev-dependencies"))
    )


def _named_in(parts: tuple[str, ...]) -> int | None:
    """Where the name of a package stands, in a table of packages."""
    if parts[0] in ("packages", "dev-packages") and len(parts) > 1:
        return 1
    for i, part in enumerate(parts[:-1]):
        if parts[0] == "tool" and part in ("dependencies", "dev-dependencies", "pypi-dependencies"):
            return i + 1
    return None


def pipfile_lock_hits(text: str) -> Iterator[Hit]:
    """Pipfile.lock: names of packages."""
    try:
        for entry in json_entries(text):
            if entry.table and len(entry.path) == 2 and entry.path[0] in ("default", "develop"):
                yield from hit_of(entry.line, package_pattern(entry.path[1]))
    except JsonError:
        return


def environment_hits(entries: Iterable[Entry]) -> Iterator[Hit]:
    """The dependencies of a conda environment, those of pip too."""
    for entry in entries:
        parts = entry.path
        if len(parts) > 1 and parts[0] == "dependencies" and parts[-1].isdigit() and not entry.table:
            yield from hit_of(entry.line, requirement_pattern(entry.value))


def conda_lock_hits(text: str) -> Iterator[Hit]:
    """conda-lock.yml: names of packages."""
    for entry in yaml_entries(text):
        if len(entry.path) == 3 and (entry.path[0], entry.path[2]) == ("package", "name"):
            yield from hit_of(entry.line, package_pattern(entry.value))


OF_REQUIREMENTS = ("requires", "requirements", "deps", "dependencies", "extras")
REQUIREMENTS_OF_SETUP = {"install_requires", "setup_requires", "extras_require", "tests_require"}


def setup_py_hits(text: str) -> Iterator[Hit]:
    """setup.py: requirements written as texts in its arguments, or in a variable of such a name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        value: ast.expr | None = None
        if isinstance(node, ast.keyword) and node.arg in REQUIREMENTS_OF_SETUP:
            value = node.value
        elif isinstance(node, ast.Assign):
            tables = (t.value if isinstance(t, ast.Subscript) else t for t in node.targets)  # extras["gpu"] = [...]
            names = {table.id.lower() for table in tables if isinstance(table, ast.Name)}
            if any(name in REQUIREMENTS_OF_SETUP or name.endswith(OF_REQUIREMENTS) for name in names):
                value = node.value
        if value is None:
            continue
        keys = {id(key) for d in ast.walk(value) if isinstance(d, ast.Dict) for key in d.keys}
        for part in ast.walk(value):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and id(part) not in keys:
                yield from hit_of(part.lineno, requirement_pattern(part.value))
