"""Shell completion of the values of options."""

from __future__ import annotations

import os
from collections.abc import Iterable
from glob import escape, glob

Offers = list[str]


def complete_model(incomplete: str) -> Offers:
    """The names of models; also folders, if the word looks like a path."""
    from reviser.checkpoints.library import list_models

    if incomplete.startswith((".", "~", os.sep)) or os.sep in incomplete:
        found = sorted(glob(f"{escape(os.path.expanduser(incomplete))}*{os.sep}"))  # noqa: PTH111, PTH207
        return [name for name in found if name != incomplete]
    return _beginning(incomplete, [entry.name for entry in list_models()])


def complete_kinds(incomplete: str) -> Offers:
    """Kinds of changes; several may be given, separated by commas."""
    from reviser.proofreading.suggestion import Kind

    before, comma, last = incomplete.rpartition(",")
    kinds = [kind.value.replace(" ", "-") for kind in Kind]
    others = [kind for kind in kinds if kind not in before.split(",")]
    return [before + comma + kind for kind in _beginning(last, others)]


def complete_format(incomplete: str) -> Offers:
    """The formats that hold prose, by the names that editors use."""
    from reviser.prose.formats import Format

    return _beginning(incomplete, [form.value for form in Format if form is not Format.UNKNOWN])


def complete_encoding(incomplete: str) -> Offers:
    """The most common text encodings."""
    usual = ("utf-8", "utf-16", "windows-1252", "latin-1", "windows-1250", "windows-1251", "shift_jis")
    return _beginning(incomplete, usual)


def _beginning(start: str, words: Iterable[str]) -> Offers:
    return [word for word in words if word.startswith(start)]
