"""Nothing is compiled: with TRITON_INTERPRET=1 kernels run in Python."""

from triton.backends import compiler  # type: ignore[import-not-found]


class InterpretedCompiler(compiler.BaseBackend):  # type: ignore[misc]
    """Stands where Triton wants a compiler."""


# Triton takes concrete classes alone, and never makes one of these.
InterpretedCompiler.__abstractmethods__ = frozenset()
