"""The one part of the build that pyproject.toml cannot say: the optional C library.

It is loaded with ctypes and does not use Python's headers; without a compiler the install goes on and
the package runs its models in torch.
"""

import platform
from pathlib import Path

from setuptools import Extension, setup

FLAGS = ["-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-D_GNU_SOURCE"]
if platform.machine() in ("aarch64", "arm64"):
    # The order of instructions decides a tenth of the speed, and this order suits all large cores.
    FLAGS.append("-mtune=neoverse-n1")

SOURCE = Path("reviser/native/src")

setup(
    ext_modules=[
        Extension(
            "reviser.native._kernels",
            sources=sorted(map(str, SOURCE.glob("*.c"))),
            depends=sorted(map(str, SOURCE.glob("*.h"))),
            extra_compile_args=FLAGS,
            libraries=["m", "pthread"],
            optional=True,
        )
    ]
)
