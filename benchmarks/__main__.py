"""`python -m benchmarks NAME …` runs the measurement of that name; its code is imported only then."""

from __future__ import annotations

import sys
from importlib import import_module

from reviser.cli.entry import complain, run_command

COMMANDS = {
    "calibration": ("proofreading.calibration.command", "how often changes are right"),
    "canvas": ("speed.canvas", "what an edit costs on canvases of several lengths"),
    "dial": ("proofreading.calibration.dial", "how often the changes that are made are right"),
    "edits": ("studies.edit_cost", "what real edits cost in actions"),
    "everyday": ("everyday.command", "everyday openings: a critic, and broken joins"),
    "forgetting": ("measures.forgetting", "what a model forgot of its base"),
    "generation": ("speed.generation", "how fast batched generation is"),
    "infill": ("measures.infill", "how well gaps are filled"),
    "languages": ("proofreading.languages.command", "badly spelt English beside other languages"),
    "lines": ("proofreading.lines", "files of sentences corrected by many processes"),
    "lsp": ("speed.suggestions.command", "how quick the language server is"),
    "next-edits": ("next_edits.command", "how well next edits are foretold"),
    "phrases": ("studies.phrases", "how often the rules for sure mistakes are wrong"),
    "proofreading": ("proofreading.command", "how well programs proofread public sets"),
    "reading": ("speed.reading", "passages proofread together beside one after the other"),
    "reproduce": ("studies.reproduce", "the paper's comparison at a smaller scale"),
    "serving": ("speed.serving", "a server with many documents at once"),
    "speed": ("speed.decoding", "decoding beside transformers and llama.cpp"),
    "spelling": ("proofreading.calibration.misspellings", "how unknown words are corrected"),
    "start": ("speed.start", "processor time and memory up to the first action"),
    "suggestions": ("studies.suggestions", "how often suggestions at a cursor are right"),
    "throughput": ("speed.throughput", "how fast models learn here"),
}


def main() -> int:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("", "-h", "--help"):
        listed = "\n".join(f"  {known:<14} {what}" for known, (_, what) in COMMANDS.items())
        print(f"usage: python -m benchmarks NAME …\n{listed}", file=sys.stdout if name else sys.stderr)
        return 0 if name else 2
    if name not in COMMANDS:
        return complain(f"there is no measurement {name} (see python -m benchmarks --help)")
    module = import_module(f"benchmarks.{COMMANDS[name][0]}")
    status: int | None = module.main(sys.argv[2:])
    return status or 0


if __name__ == "__main__":
    run_command(lambda: main)
