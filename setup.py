"""The parts of the build that pyproject.toml cannot express: package folders, the optional C library, and the wheel's
name.

The packages beside the engine are installed inside of it, in `reviser/apps`, under which no name of anybody else can be
(`reviser.cli.extras` finds them there).

The library is loaded with ctypes and uses nothing of Python's, so one wheel fits every Python of a platform. Without a
compiler, on Windows, or with REVISER_NATIVE=0 there is no library: then the wheel is called `py3-none-any`, and the
package runs its models in torch.
"""

import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import Extension, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

FLAGS = ["-std=c11", "-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-D_GNU_SOURCE"]
if platform.machine() in ("aarch64", "arm64"):
    # The order of instructions makes a tenth of the speed, and this order suits all large cores.
    FLAGS.append("-mtune=neoverse-n1")

SOURCE = Path("reviser/native/src")
LIBRARY = "reviser/native/_kernels.so"
LEFT_OUT = ("REVISER_LEFT_OUT", None)
WANTED = sys.platform != "win32" and os.environ.get("REVISER_NATIVE") != "0"

KERNELS = Extension(
    "reviser.native._kernels",
    sources=sorted(map(str, SOURCE.glob("*.c"))),
    depends=sorted(map(str, SOURCE.glob("*.h"))),
    extra_compile_args=FLAGS,
    libraries=["m", "pthread"],
    optional=True,
)


class BuildKernels(build_ext):
    """A build step that compiles the C sources in parallel, and names the library without Python's version.

    Instruction sets that the compiler or its assembler does not know are left out.
    """

    def build_extension(self, ext: Extension) -> None:
        compile_several = self.compiler.compile
        with ThreadPoolExecutor(os.cpu_count()) as pool:

            def compile_one(source: str, options: dict[str, Any]) -> list[str]:
                try:
                    return compile_several([source], **options)
                except CompileError:
                    name = Path(source).name
                    if not name.startswith("level_") or name == "level_portable.c":
                        raise
                    made = compile_several([source], **{**options, "macros": [LEFT_OUT]})
                    print(f"{source} is left out: this compiler does not know its instructions")
                    return made

            def compile_all(sources: list[str], **options: Any) -> list[str]:
                made = pool.map(lambda source: compile_one(source, options), sources)
                return [file for files in made for file in files]

            self.compiler.compile = compile_all
            super().build_extension(ext)

    def get_ext_filename(self, fullname: str) -> str:
        return os.path.join(*fullname.split(".")) + ".so"  # noqa: PTH118


class PlatformWheel(bdist_wheel):
    """A wheel named for its platform if it contains the library, else for any platform."""

    def get_tag(self) -> tuple[str, str, str]:
        self.root_is_pure = not Path(self.bdist_dir, LIBRARY).exists()
        return "py3", "none", super().get_tag()[2]


APPS = ("benchmarks", "lsp_server", "training", "tui")


def inside(package: str) -> str:
    """The name under which a package is installed."""
    return f"reviser.apps.{package}"


setup(
    packages=[
        *find_packages(include=["reviser", "reviser.*"]),
        *map(inside, find_packages(include=[f"{app}*" for app in APPS])),
    ],
    package_dir={inside(app): app for app in APPS},
    ext_modules=[KERNELS] if WANTED else [],
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": PlatformWheel},
)
