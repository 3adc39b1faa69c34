"""The one part of the build that pyproject.toml cannot say: the optional C library.

It is loaded with ctypes and does not use Python's headers; without a compiler the install goes on and
the package runs its models in torch.
"""

from setuptools import Extension, setup

SOURCES = ("decoder", "team", "top", "level_portable", "level_neon", "level_avx2", "level_vnni")

setup(
    ext_modules=[
        Extension(
            "reviser.native._kernels",
            sources=[f"reviser/native/src/{name}.c" for name in SOURCES],
            depends=[
                f"reviser/native/src/{name}.h"
                for name in (
                    "kernels",
                    "kernels_common",
                    "multiply_avx2",
                    "reviser_native",
                    "simd_avx2",
                    "simd_neon",
                    "simd_portable",
                    "team",
                )
            ],
            extra_compile_args=[
                "-std=c11",
                "-O3",
                "-fno-math-errno",
                "-fno-trapping-math",
                "-D_GNU_SOURCE",
            ],
            libraries=["m", "pthread"],
            optional=True,
        )
    ]
)
