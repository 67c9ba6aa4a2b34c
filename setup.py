"""Adds the machine code of kernels to a wheel, so that an install needs no compiler; all else is in pyproject.toml."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithMachineCode(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # a checkout compiles what it needs: its kernels change
        if find_spec("numba") is None:
            self.warn("Numba is not here to compile kernels: this build brings no machine code along")
            return
        folder = Path(self.build_lib, "hoplite", "engine", "hops", "shipped_code").absolute()
        subprocess.run([sys.executable, "-m", "hoplite.engine.hops.make_machine_code", str(folder)], check=True)


setup(cmdclass={"build_py": BuildWithMachineCode})
