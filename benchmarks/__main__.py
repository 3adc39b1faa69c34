"""`python -m benchmarks NAME …` runs the measurement of that name; its code is imported only then."""

from __future__ import annotations

from functools import partial

from reviser.cli.entry import run_command
from reviser.cli.options import run_by_name

COMMANDS = {
    "run": ("command", "models continue prompts, and all that they write is measured"),
    "canvas": ("speed.canvas", "what an edit costs on canvases of several lengths"),
    "everyday": ("everyday.command", "everyday openings: a critic, and broken joins"),
    "findings": ("findings.reading", "judged findings in documentation, as tables"),
    "forgetting": ("measures.forgetting", "what a model forgot of its base"),
    "infill": ("measures.infill", "how well gaps are filled"),
    "judgement": ("next_edits.fitting", "how likely a possible next edit is made"),
    "lines": ("proofreading.lines", "files of sentences corrected by many processes"),
    "lsp": ("speed.suggestions.command", "how quick the language server is"),
    "names": ("findings.names", "how many names in sentences are corrected"),
    "next-edits": ("next_edits.command", "how well next edits are foretold"),
    "proofreading": ("proofreading.command", "how well programs proofread public sets"),
    "reading": ("speed.reading", "how quickly documents are proofread"),
    "reproduce": ("reproduction.command", "the paper's comparison at a smaller scale"),
    "speed": ("speed.decoding", "decoding beside transformers and llama.cpp"),
}


if __name__ == "__main__":
    run_command(lambda: partial(run_by_name, "benchmarks", COMMANDS))
