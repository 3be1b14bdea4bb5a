"""The same link gives the same P10, P50 and P90 to the cent: on another machine too, and with another NumPy."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.validation import golden_ranges

OTHERS = ("numpy<2", "numpy<2.3")  # the first that there is a wheel of


def check(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, golden_ranges.__file__, "--check"],
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


def installed(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=40, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test_no_range_moves_without_a_new_model_version() -> None:
    moved = golden_ranges.differences()
    assert not moved, "\n".join([golden_ranges.MOVED, *moved])


def test_the_same_on_a_machine_without_wide_vectors() -> None:
    """NumPy takes other routes through exp, sqrt and sums there, which differ in the last bits."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    if not found:
        pytest.skip("this machine has no vectors beyond NumPy's least")
    there = check(NPY_DISABLE_CPU_FEATURES=" ".join(found))
    assert there.returncode == 0, there.stdout + there.stderr


def test_the_same_with_another_numpy(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    pip += ["--only-binary", ":all:", "--retries", "0", "--timeout", "5", "--target", str(tmp_path)]
    if not any(installed([*pip, other]) for other in OTHERS):
        pytest.skip("the package index cannot be reached, or has no other NumPy for this Python")
    there = check(PYTHONPATH=str(tmp_path))
    assert f"NumPy {np.__version__}:" not in there.stdout
    assert there.returncode == 0, there.stdout + there.stderr
