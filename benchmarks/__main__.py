"""`python -m benchmarks NAME …` runs the measurement of that name; its code is imported only then."""

from __future__ import annotations

import sys
from importlib import import_module

from reviser.cli.entry import complain, run_command

COMMANDS = {
    "attention": ("speed.attention", "which attention over packed rows is fastest on a GPU"),
    "calibration": ("proofreading.calibration.command", "how often changes are right"),
    "canvas": ("speed.canvas", "what an edit costs on canvases of several lengths"),
    "continuation": ("measures.continuation", "how likely and varied continuations are"),
    "dagger": ("studies.dagger", "DAgger beside plain supervision"),
    "dial": ("proofreading.calibration.dial", "how often the changes that are made are right"),
    "drafts": (
        "studies.training.drafts",
        "short training runs whose steps back write other pieces",
    ),
    "deciding": ("proofreading.deciding.command", "which evidence tells right changes from wrong"),
    "edits": ("studies.edit_cost", "what real edits cost in actions"),
    "forgetting": ("measures.forgetting", "what a model forgot of its base"),
    "generation": ("speed.generation", "how fast batched generation is"),
    "infill": ("measures.infill", "how well gaps are filled"),
    "lines": ("proofreading.lines", "files of sentences corrected by many processes"),
    "lookup": ("speed.lookup", "what guessing from the text itself would gain"),
    "lsp": ("speed.suggestions.command", "how quick the language server is"),
    "margin": ("studies.lookahead_margin", "how likely a change must be to be made"),
    "moving": ("studies.moving", "moves at several temperatures"),
    "phrases": ("studies.phrases", "how often the rules for sure mistakes are wrong"),
    "preference": ("studies.preference", "a tuned model beside the one it was tuned from"),
    "proofreading_recipes": (
        "studies.training.proofreading_recipes",
        "short training runs of proofreaders that differ in one setting",
    ),
    "quality": ("studies.quality", "a model beside real text and a left-to-right model"),
    "quantisation": ("studies.quantisation", "what quantised weights cost"),
    "reading": ("speed.reading", "passages proofread together beside one after the other"),
    "recipes": ("studies.training.recipes", "short training runs that differ in one setting"),
    "reproduce": ("studies.reproduce", "the paper's comparison at a smaller scale"),
    "revising": ("studies.revision_quality", "how well models revise"),
    "serving": ("speed.serving", "a server with many documents at once"),
    "shortlist": ("speed.shortlist", "what a shortlist for the output table would gain"),
    "speed": ("speed.decoding", "decoding beside transformers and llama.cpp"),
    "spelling": ("proofreading.calibration.misspellings", "how unknown words are corrected"),
    "start": ("speed.start", "processor time and memory up to the first action"),
    "suggestions": ("studies.suggestions", "how often suggestions at a cursor are right"),
    "steps_back": ("speed.steps_back", "steps back that are checked first, beside all"),
    "throughput": ("speed.throughput", "how fast models learn here"),
    "training_runs": ("studies.training.training_runs", "training runs in figures"),
    "wrapping": ("studies.wrapping", "wrapped lines and ends of sentences"),
}


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("", "-h", "--help"):
        listed = "\n".join(f"  {known:<14} {what}" for known, (_, what) in COMMANDS.items())
        print(
            f"usage: python -m benchmarks NAME …\n{listed}",
            file=sys.stdout if name else sys.stderr,
        )
        return 0 if name else 2
    if name not in COMMANDS:
        return complain(f"there is no measurement {name} (see python -m benchmarks --help)")
    module = import_module(f"benchmarks.{COMMANDS[name][0]}")
    status: int | None = module.main(sys.argv[2:])
    return status or 0


if __name__ == "__main__":
    run_command(lambda: main)
