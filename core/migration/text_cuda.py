"""CUDA in C and C++: kernels, what starts them, and what binds them to Python. Comments and texts are no code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.migration.finding import Hit

SURE, LIKELY = 0.95, 0.8

# What is never closed ends with the line or the text, so that each character is looked at once.
_PROSE = re.compile(
    r'//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*(?:"|$)|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL | re.MULTILINE
)
_KERNEL = re.compile(r"\b__global__\b")
_DEVICE = re.compile(r"\b__(?:device|shared|constant)__\b")
_LAUNCH = re.compile(r"<<<(?!<)")
_BINDING = re.compile(r"\b(?:PYBIND11_MODULE|TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?|NB_MODULE)\s*\(")
_INCLUDE = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:cuda\w*(?:/\S+)?\.h(?:pp)?|cuda/\S+|cub/\S+|thrust/\S+|cutlass/\S+|cute/\S+"
    r"|cublas\w*\.h|cudnn\w*\.h|ATen/cuda/\S+|c10/cuda/\S+|mma\.h|nvToolsExt\.h)[>\"]",
    re.MULTILINE,
)
_CMAKE_COMMENT = re.compile(r"#[^\n]*")
_CMAKE = re.compile(
    r"\b(?:find_package\s*\(\s*CUDA\w*|enable_language\s*\(\s*CUDA\b|project\s*\([^)]{0,300}?\bCUDA\b)", re.IGNORECASE
)


def cuda_hits(path: str, text: str) -> Iterator[Hit]:
    """Every kernel; in a file without one, its bindings, else what starts kernels, else the first sign of CUDA."""
    name = path.rsplit("/", 1)[-1].lower()
    if name == "cmakelists.txt" or name.endswith(".cmake"):
        yield from _at(_CMAKE, _CMAKE_COMMENT.sub("", text), LIKELY, first=True)
        return
    includes = list(_INCLUDE.finditer(text)) if "include" in text else []
    code = _PROSE.sub(lambda found: "\n" * found[0].count("\n"), text)
    is_cuda = name.endswith((".cu", ".cuh"))
    if _KERNEL.search(code):
        yield from _at(_KERNEL, code, SURE, hot=True)
    elif (is_cuda or includes) and _BINDING.search(code):
        yield from _at(_BINDING, code, SURE)
    elif _LAUNCH.search(code) and (is_cuda or includes):
        yield from _at(_LAUNCH, code, SURE, hot=True)
    elif _DEVICE.search(code):
        yield from _at(_DEVICE, code, SURE, first=True, hot=True)
    elif includes and (line := _first_of(includes, code, text)):
        yield Hit(line, "P10", LIKELY)
    elif is_cuda and (found := re.search(r"\S", code)) is not None:
        yield Hit(code.count("\n", 0, found.start()) + 1, "P10", LIKELY)


def _first_of(includes: list[re.Match[str]], code: str, text: str) -> int:
    """The line of the first inclusion that is no comment; 0 where there is none."""
    lines = code.split("\n")
    for found in includes[:1000]:
        line = text.count("\n", 0, found.start()) + 1
        if "include" in lines[line - 1]:
            return line
    return 0


def _at(
    pattern: re.Pattern[str], code: str, confidence: float, first: bool = False, hot: bool = False
) -> Iterator[Hit]:
    line, last = 1, 0
    for found in pattern.finditer(code):
        line += code.count("\n", last, found.start())
        last = found.start()
        yield Hit(line, "P10", confidence, hot)
        if first:
            return
