"""Changed files according to git, and their contents at the last commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from reviser.core.errors import ReviserError
from reviser.core.files import STREAM


def changed_files(paths: Iterable[Path], since: str | None = None) -> set[Path]:
    """The files that differ from the last commit (staged, unstaged or untracked) in the repositories of some paths.

    With `since`, the files that differ from the point where this branch left that revision.
    """
    folders = {path if path.is_dir() else path.parent for path in paths if path != STREAM}
    roots = {_root(folder) for folder in folders}
    return {path for root in roots for path in _changed(root, since)}


def committed(path: Path) -> bytes | None:
    """The contents of a file at the last commit; None if it was not there. Raises `ReviserError` outside of a
    repository."""
    folder = path.resolve().parent
    _root(folder)
    return _git(folder, "cat-file", "--filters", f"HEAD:./{path.resolve().name}")


def _root(folder: Path) -> Path:
    if not folder.is_dir():
        raise ReviserError(f"there is no folder {folder}")
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found is None:
        raise ReviserError(f"{folder.resolve()} is in no git repository, or git is missing")
    return Path(os.fsdecode(found.removesuffix(b"\n")))


def _changed(root: Path, since: str | None) -> set[Path]:
    different = _git(root, "diff", "--name-only", "-z", "--diff-filter=d", _base(root, since), "--")
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    if different is None or new is None:
        raise ReviserError(f"git cannot say what has changed in {root}")
    names = {name for name in (different + new).split(b"\0") if name}
    return {root / os.fsdecode(name) for name in names}


def _base(root: Path, since: str | None) -> str:
    """The revision that the files are compared with."""
    if since is not None:
        commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{since}^{{commit}}")
        if commit is None:
            raise ReviserError(f"there is no revision {since} in {root}")
        known = commit.decode().strip()
        return (_git(root, "merge-base", known, "HEAD") or commit).decode().strip() or known
    if _git(root, "rev-parse", "--verify", "--quiet", "HEAD") is not None:
        return "HEAD"
    empty = _git(root, "hash-object", "-t", "tree", os.devnull)
    return (empty or b"HEAD").decode().strip()


def _git(folder: Path, *words: str) -> bytes | None:
    """The output of a git command; None if it fails, or git is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if done.returncode else done.stdout
