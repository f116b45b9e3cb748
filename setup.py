"""Adds to the wheel what is made of the code: the types of all messages (see barnabas.specs.stubs)."""

import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTypes(build_py):
    """Copies the package, and lets the copy write its stub; an editable install has no copy."""

    def run(self) -> None:
        """Build as setuptools does, and then write the stub."""
        super().run()
        if not self.editable_mode:
            write = ["-m", "barnabas.specs.stubs", "barnabas/specs/types.pyi"]
            subprocess.run([sys.executable, "-B", *write], cwd=self.build_lib, check=True)  # noqa: S603


setup(cmdclass={"build_py": BuildWithTypes})
