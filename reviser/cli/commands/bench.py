"""`reviser bench`: measurements of the engine and of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from reviser.cli.completion import complete_model
from reviser.cli.extras import load_extra
from reviser.cli.options import Option, add_deferred, with_fields

app = typer.Typer(
    name="bench",
    help="Measure the engine and models; alone, a quick benchmark of the default model.",
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@dataclass(frozen=True, kw_only=True)
class QuickOptions:
    """The options of the quick benchmark: the model, and the run's folder."""

    model: Annotated[
        str | None, Option("the model to measure, by name or path", default="the default one", complete=complete_model)
    ] = None
    out: Annotated[Path | None, Option("the run's folder", metavar="DIR", default="runs/bench-…")] = None
    json: Annotated[bool, Option("print JSON")] = False


def quick(options: QuickOptions) -> None:
    """Measure the engine and models; alone, a quick benchmark of the default model.

    Without a command: the default model and SmolLM2 continue a few of the built-in texts, in
    minutes on two cores.
    """
    load_extra("benchmarks.command", "bench").quick(options.model, options.out, options.json)


app.callback()(with_fields(quick))

_DEFERRED = (
    (
        *("run", "command", "bench"),
        """Let models continue prompts, measure all that they write, and report it.

        Run the same command again to continue after an interruption; finished work is reused. An empty name
        (--mauve "") leaves a measurement out. Exit status 1 means that something could not be measured.
        """,
    ),
    (
        *("reproduce", "reproduction.command", "all"),
        "Train AR, Revisers, SEDD and MDLM alike and compare them: --scale smoke, lab, bench or bench-small.",
    ),
    (
        "speed",
        "speed.decoding",
        "bench",
        "Actions per second here, beside transformers and llama.cpp with the same weights.",
    ),
    ("canvas", "speed.canvas", "bench", "The cost of an edit on canvases from a thousand to a million tokens."),
    (
        *("lsp", "speed.suggestions.command", "lsp"),
        "How quickly suggestions come in an editor: a replayed typing session (two minutes).",
    ),
    (
        *("proofreading", "proofreading.command", "bench"),
        """How well programs proofread: GLEU and F0.5 on public sets, or recall by kind on your own.

        The public sets are fetched once, after you accept their licences. A program that is not
        installed is left out and named; exit status 1 means that one you asked for was.
        """,
    ),
    (
        *("everyday", "everyday.command", "bench"),
        """Everyday openings: whom a critic prefers, and whether steps back break sentences.

        A contestant is a model folder or name, `default`, `plain:MODEL` for one of ours that may only insert
        and stop, a GGUF file or `smollm2` for the base, or a causal language model by folder or hub name;
        NAME= before it names it. The first is compared with each of the others.
        """,
    ),
    ("report", "sections.page", "bench", "Write the report of a run again: report.html and report.md."),
    (
        "flops",
        "measures.flops",
        "bench",
        "The paper's inference costs, from its formulas; or those of recorded runs of any model.",
    ),
    (
        *("stats", "measures.statistics", "bench"),
        "How the recorded runs were written: the paper's trajectory statistics.",
    ),
    (
        *("next-edit", "next_edits.command", "bench"),
        """How well next edits are foretold: sessions of people, of whose edits the first are made.

        Sessions come from git histories (`python -m training sessions find`). Precision and recall are told after
        one, two and three edits, beside find and replace, with intervals of 95 %, and by sorts of edits.
        """,
    ),
)
for _name, _module, _extra, _help in _DEFERRED:
    add_deferred(app, _name, f"benchmarks.{_module}", extra=_extra, help=_help)
