"""Proofreading: a model's corrections of the prose in a document, each judged by itself, made where they do no harm."""

from reviser.proofreading.proofreader import (
    CONFIDENCE,
    Change,
    Draft,
    Proofread,
    Proofreader,
    confidence_of,
    safe_selection,
    with_changes,
)
from reviser.proofreading.reader import Correction, Reader, Rules, corrected
from reviser.proofreading.words import Words

__all__ = [
    "CONFIDENCE",
    "Change",
    "Correction",
    "Draft",
    "Proofread",
    "Proofreader",
    "Reader",
    "Rules",
    "Words",
    "confidence_of",
    "corrected",
    "safe_selection",
    "with_changes",
]
