"""Patterns in the files of a code base that are not Python: the rules of a file by its kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.migration.finding import Hit
from core.migration.marked_text import Entry, JsonError, json_entries, toml_entries, without_comment, yaml_entries
from core.migration.source_file import SourceFile
from core.migration.text_config import config_hits
from core.migration.text_cuda import cuda_hits
from core.migration.text_packages import (
    conda_lock_hits,
    environment_hits,
    hit_of,
    one_image,
    pipfile_lock_hits,
    requirements_hits,
    setup_cfg_hits,
    setup_py_hits,
    toml_hits,
)
from core.migration.text_scripts import docker_hits, image_pattern, shell_hits, variable_pattern

SCRIPT_KEYS = frozenset(["run", "script", "setup", "command", "commands", "args", "entrypoint", "before_script", "cmd"])
NOT_CONFIGS = frozenset(("package.json", "package-lock.json", "tsconfig.json", "pipfile.lock"))


def text_hits(file: SourceFile) -> Iterator[Hit]:
    """What a file holds that ties its code base to CUDA; of Python, only what ``setup.py`` asks for.

    Lines are of ``file.text``. Comments, printed texts and documents are no hits, and nothing raises.
    """
    name = file.path.rsplit("/", 1)[-1].lower()
    text = file.text
    if file.kind == "cuda":
        yield from cuda_hits(file.path, text)
    elif file.kind == "requirements":
        yield from one_image(setup_cfg_hits(text) if name == "setup.cfg" else requirements_hits(text))
    elif file.kind == "docker":
        yield from docker_hits(text)
    elif file.kind == "shell":
        yield from shell_hits(text, exported=".env" in name)
    elif file.kind == "yaml":
        yield from _yaml_hits(name, text)
    elif file.kind == "json":
        yield from one_image(pipfile_lock_hits(text)) if name == "pipfile.lock" else _json_hits(name, text)
    elif file.kind == "toml":
        if name in ("pyproject.toml", "pipfile", "pixi.toml") or name.endswith(".lock"):
            yield from one_image(toml_hits(file.path, text))
        else:
            yield from config_hits(toml_entries(text))
    elif file.kind == "python" and name == "setup.py":
        yield from setup_py_hits(text)


_IMPORTS = re.compile(r"^[ \t]*(?:import|from)[ \t]+(jax|flax|torch)\b", re.MULTILINE)
JAX_SHARE = 4  # files with JAX for each with PyTorch, from which a code base is one of JAX


def is_jax_code_base(files: Iterable[SourceFile]) -> bool:
    """Whether the Python of a code base is JAX. Then its images and variables for GPUs are a choice, not a tie."""
    jax = torch = 0
    for file in files:
        if file.kind in ("python", "notebook"):
            names = set(_IMPORTS.findall(file.text))
            jax += not names.isdisjoint(("jax", "flax"))
            torch += "torch" in names
    return jax > JAX_SHARE * torch


def _json_hits(name: str, text: str) -> Iterator[Hit]:
    if name in NOT_CONFIGS:
        return
    try:
        yield from config_hits(json_entries(text))
    except JsonError:
        return


def _yaml_hits(name: str, text: str) -> Iterator[Hit]:
    if name.startswith("conda-lock"):
        yield from one_image(conda_lock_hits(text))
        return
    entries = list(_json_in_yaml(text) or yaml_entries(text))
    if any(entry.path == ("dependencies",) and entry.table for entry in entries):
        yield from one_image(environment_hits(entries))
    yield from config_hits(entries)
    yield from _job_hits(entries)


def _json_in_yaml(text: str) -> list[Entry]:
    """The values of a YAML text that is a table in brackets over many lines, as JSON with comments; none otherwise."""
    lines = [without_comment(line) for line in text.split("\n")]
    if not next((line for line in lines if line.strip()), "").lstrip().startswith("{"):
        return []
    try:
        return list(json_entries("\n".join(lines)))
    except JsonError:
        return []


def _job_hits(entries: Iterable[Entry]) -> Iterator[Hit]:
    """A job of a cluster or of continuous integration: its images, variables, accelerators and scripts."""
    asked = False
    for entry in entries:
        key = entry.key
        if entry.block:
            if key in SCRIPT_KEYS:
                yield from shell_hits(entry.value, entry.line)
            continue
        if key in ("image", "docker_image", "container_image", "image_id", "image_uri"):
            yield from hit_of(entry.line, image_pattern(entry.value.removeprefix("docker:")))
        elif key in SCRIPT_KEYS and not entry.table:
            yield from shell_hits(entry.value, entry.line - 1)
        elif key == "nvidia.com/gpu" and not asked:
            asked = True
            yield Hit(entry.line, "P55", 0.95)
        else:
            by_name = key == "name"
            name = entry.value if by_name else entry.path[-1] if len(entry.path) > 1 else ""
            if (found := variable_pattern(name, "0" if by_name else entry.value)) is not None and found[0] == "P53":
                yield Hit(entry.line, *found)
