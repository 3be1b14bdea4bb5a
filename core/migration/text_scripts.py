"""Launch scripts and images: what a shell script or a Dockerfile starts, installs and sets.

A word counts where it is a command, an option with its value, or a variable that is set; what a script
prints, comments or documents does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.migration.finding import Hit
from core.migration.rules_dist import RANKS
from core.migration.shell_words import Word, commands
from core.migration.text_config import setting_pattern
from core.migration.text_packages import hit_of, requirement_pattern

SURE, LIKELY, UNSURE = 0.95, 0.8, 0.6

PROSE = frozenset(  # what follows these is printed, looked for or moved, not started
    (
        *("echo", "printf", "usage", "log", "info", "warn", "error", "die", "fail", "man", "alias"),
        *(
            "grep",
            "egrep",
            "sed",
            "awk",
            "which",
            "type",
            "test",
            "[",
            "[[",
            "ls",
            "cat",
            "find",
            "cp",
            "mv",
            "rm",
            "ln",
        ),
    )
)
PROGRAMS = {
    **dict.fromkeys(("torchrun", "torchx", "torch.distributed.run", "torch.distributed.launch"), "P22"),
    **dict.fromkeys(("srun", "sbatch", "salloc"), "P55"),
    "deepspeed": "P17",
    "nvcc": "P10",
    **dict.fromkeys(("nsys", "ncu", "nvprof", "nvidia-smi", "dcgmi", "nvitop", "gpustat"), "P43"),
    **dict.fromkeys(("vllm", "vllm-serve", "vllm.entrypoints.openai.api_server", "sglang.launch_server"), "P40"),
}
PACKAGE_TOOLS = frozenset(("pip", "pip3", "uv", "conda", "mamba", "micromamba", "poetry", "pipx"))
WRAPPERS = frozenset(
    (
        *("sudo", "env", "nohup", "time", "exec", "nice", "command", "stdbuf", "eval", "export", "declare", "local"),
        *("then", "do", "else", "if", "while", "!", "{"),
    )
)
STARTERS = frozenset(("srun", "mpirun", "mpiexec", "docker", "singularity", "apptainer"))
_SETS = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_CUDA_VARIABLE = re.compile(
    r"(?:TORCH_)?NCCL_\w+|(?:PY)?TORCH_CUDA_\w+|CUDA_\w+|CUDNN_\w+|CUBLAS_\w+|NVIDIA_\w+|NVTE_\w+|TORCH_ALLOW_TF32\w*"
)
_CUDA_IMAGE = re.compile(
    r"(?:.*/)?nvidia/(?:cuda|cudagl|pytorch|k8s)\S*|nvcr\.io/\S+|\S*/?(?:pytorch|torch)\S*:\S*cu(?:da)?-?1\d\S*"
    r"|\S*[:-]\S*\bcu(?:da)?-?1\d[\d.]*\b\S*",
    re.IGNORECASE,
)
_CUDA_MODULE = re.compile(r"(?:cuda|cudnn|nccl|nvhpc)(?:[/-]\S*)?", re.IGNORECASE)
_CUDA_DEB = re.compile(r"(?:lib)?(?:cuda|cudnn|nccl|nvidia|cublas|nvinfer)(?:\d|-\S+|$)\S*", re.IGNORECASE)


def image_pattern(image: str) -> tuple[str, float] | None:
    """P54 for an image that holds CUDA.

    >>> image_pattern("nvidia/cuda:12.4.1-devel"), image_pattern("python:3.11-slim")
    (('P54', 0.95), None)
    """
    return ("P54", SURE) if len(image) < 500 and _CUDA_IMAGE.fullmatch(image) else None


def variable_pattern(name: str, value: str = "0") -> tuple[str, float] | None:
    """P53 for a variable that only CUDA or NCCL reads, P22 for one of the launcher; none where it hides all GPUs."""
    if name == "CUDA_VISIBLE_DEVICES" and value.strip("\"'") in ("", "-1"):
        return None
    if _CUDA_VARIABLE.fullmatch(name):
        return "P53", SURE
    return ("P22", LIKELY) if name in RANKS else None


def shell_hits(text: str, offset: int = 0, exported: bool = False) -> Iterator[Hit]:
    """What a script does; its first line is ``offset + 1`` of the file. ``exported``: all its variables are."""
    slurm = False
    for words in commands(text):
        if words[0].text.startswith("#SBATCH"):
            if not slurm:
                yield Hit(words[0].line + offset, "P55", SURE)
            slurm = True
            continue
        for hit in command_hits(words, exported=exported):
            yield Hit(hit.line + offset, hit.pattern_id, hit.confidence)


def command_hits(words: Sequence[Word], inner: bool = False, exported: bool = False) -> Iterator[Hit]:
    """What one command does, with the variables set before it; ``inner``: it stands in the quotes of another."""
    i = 0
    variables: list[tuple[Word, str, str]] = []
    while i < len(words):
        word = words[i]
        sets = _SETS.fullmatch(word.text)
        if sets is not None:
            variables.append((word, sets[1], sets[2]))
            if not inner:
                yield from _value_hits(sets[2], word.line)
        elif word.text == "setenv" and i + 1 < len(words):
            yield from hit_of(word.line, variable_pattern(words[i + 1].text))
            return
        elif word.text not in WRAPPERS:
            break
        exported = exported or word.text in ("export", "env")
        i += 1
    for word, name, value in variables:  # NVIDIA_DIR=… for the script itself is nothing that CUDA reads
        found = variable_pattern(name, value)
        if found is not None and (exported or i < len(words) or found[0] != "P53"):
            yield Hit(word.line, *found)
    words = words[i:]
    if not words or _name(words[0].text) in PROSE:
        return
    yield from _program_hits(words, inner)
    yield from _option_hits(words)
    if _installs(words):
        yield from _installed(words)


def _value_hits(value: str, line: int) -> Iterator[Hit]:
    """A variable that holds a command or options: ``LAUNCHER="torchrun --nproc_per_node 8"``."""
    words, last = list[Word](), 0
    for part in re.finditer(r"[^\s\\]\S*", value):
        line += value.count("\n", last, part.start())
        last = part.start()
        words.append(Word(part[0], line))
    first = words[0].text if words else ""
    if first.startswith(("-", "$")) or first.endswith(".py") or _name(first) in (*PROGRAMS, "python", "python3"):
        yield from command_hits(words, inner=True)


def _program_hits(words: Sequence[Word], inner: bool) -> Iterator[Hit]:
    first = _name(words[0].text)
    for i, word in enumerate(words):
        name = _name(word.text)
        if word.quoted and i:
            if not inner and (words[i - 1].text in ("-c", "-lc", "--wrap") or word.text.startswith("--wrap=")):
                script = word.text.removeprefix("--wrap=")
                if not first.startswith("python"):
                    yield from shell_hits(script, word.line - 1)
            continue
        if name not in PROGRAMS:
            continue
        before = words[i - 1].text if i else ""
        option = before.startswith("-") and "=" not in before and first not in STARTERS  # its value, as in --launcher
        if i == 0 or before == "-m" or not (option or _installs(words) or re.search(r"[=,:{}$]", word.text)):
            yield Hit(word.line, PROGRAMS[name], SURE)
    if first == "accelerate" and len(words) > 1 and words[1].text == "launch":
        yield Hit(words[0].line, "P41", SURE)
    if first == "module" and len(words) > 2 and words[1].text in ("load", "add"):
        for word in words[2:]:
            if _CUDA_MODULE.fullmatch(word.text):
                yield Hit(word.line, "P54", SURE)
    if first in ("docker", "podman", "nerdctl", "singularity", "apptainer"):
        for word in words[1:]:
            image = word.text.removeprefix("docker://")
            if word.text in ("--nv", "--gpus") or word.text.startswith("--gpus=") or image_pattern(image):
                yield Hit(word.line, "P54", SURE)


def _name(text: str) -> str:
    return text.rsplit("/", 1)[-1]


def _option_hits(words: Sequence[Word]) -> Iterator[Hit]:
    """Options by what they mean, as in a config: ``--fp16``, ``--device=cuda``, ``optimizer.fused=true``."""
    for i, word in enumerate(words):
        text = word.text
        if word.quoted and " " in text:
            continue
        name, equals, value = text.partition("=")
        if name.startswith("--"):
            if not equals:
                after = words[i + 1].text if i + 1 < len(words) else ""
                value = after if after and not after.startswith("-") else "true"
        elif not equals or not re.fullmatch(r"\+{0,2}[A-Za-z_][\w.]*\.\w+", name):
            continue
        keys = tuple(name.strip("-+").replace("-", "_").split("."))
        found = setting_pattern(keys, value.strip("\"'"))
        if found is not None:
            yield Hit(word.line, found[0], min(found[1], LIKELY))


def _installs(words: Sequence[Word]) -> bool:
    texts = [word.text for word in words[:8]]
    return "install" in texts or texts[:2] in (["uv", "add"], ["poetry", "add"], ["conda", "create"])


def _installed(words: Sequence[Word]) -> Iterator[Hit]:
    tools = {_name(word.text) for word in words[:6]}
    apt = bool(tools & {"apt", "apt-get", "yum", "dnf", "apk"})
    at = next((i for i, word in enumerate(words) if word.text in ("install", "add", "create")), 0)
    for word in words[at + 1 :]:
        if apt:
            if _CUDA_DEB.fullmatch(word.text):
                yield Hit(word.line, "P54", SURE)
        elif tools & PACKAGE_TOOLS and (not word.text.startswith("-") or "://" in word.text):
            found = requirement_pattern(word.text.rpartition("=")[2] if word.text.startswith("-") else word.text)
            yield from hit_of(word.line, found)


# Dockerfiles

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+):?\s+(.*)", re.DOTALL)


def docker_hits(text: str) -> Iterator[Hit]:
    """A Dockerfile or a definition of Singularity: its base images, variables and commands."""
    defaults: dict[str, tuple[str, int]] = {}
    said: set[str] = set()
    for number, whole in _instructions(text):
        found = _INSTRUCTION.fullmatch(whole)
        if found is None:
            continue
        word, rest = found[1].upper(), found[2]
        if word == "FROM":
            image = next((part for part in rest.split() if not part.startswith("--")), "")
            line = number
            name = re.fullmatch(r"\$\{?(\w+)(?::-([^}]*))?\}?.*", image, re.DOTALL)
            if name is not None:
                image, line = defaults.get(name[1], (name[2] or "", number))
            if image not in said:
                yield from hit_of(line, image_pattern(image.strip("\"'")))
            said.add(image)
        elif word == "ARG":
            key, _, value = rest.strip().partition("=")
            defaults[key] = (value.strip("\"'"), number)
        elif word == "ENV":
            for pair in commands(rest):
                for i, part in enumerate(pair):
                    key, equals, value = part.text.partition("=")
                    if i == 0 or equals:
                        yield from hit_of(number + part.line - 1, variable_pattern(key, value if equals else "0"))
        elif word in ("RUN", "CMD", "ENTRYPOINT"):
            yield from shell_hits(_filled_in(_exec_form(rest), defaults), number - 1)


def _filled_in(script: str, defaults: dict[str, tuple[str, int]]) -> str:
    """A script with the defaults of ARG in the place of their names, where a default is one word."""

    def value(found: re.Match[str]) -> str:
        given = defaults.get(found[1] or found[2], ("", 0))[0]
        return given if given and len(given) < 300 and not re.search(r"[\s$`]", given) else found[0]

    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", value, script) if "$" in script else script


def _exec_form(rest: str) -> str:
    """``["a", "b"]`` as ``a b``; anything else as it is."""
    plain = rest.strip()
    if plain.startswith("[") and plain.endswith("]"):
        return " ".join(re.findall(r'"([^"]*)"', plain))
    return re.sub(r"^(?:--\w+=\S+\s+)+", "", rest)


def _instructions(text: str) -> Iterator[tuple[int, str]]:
    """Each instruction with its first line; comments are blank lines inside it."""
    start, held = 1, list[str]()
    for number, raw in enumerate(text.split("\n"), start=1):
        line = "" if raw.lstrip().startswith("#") else raw
        if not held:
            start = number
            if not line.strip():
                continue
        held.append(line if line.strip() else "\\")
        if not held[-1].rstrip().endswith("\\"):
            yield start, "\n".join(held)
            held = []
    if held:
        yield start, "\n".join(held)
