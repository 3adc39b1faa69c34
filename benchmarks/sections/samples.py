"""What all contestants wrote after the same prompts."""

from __future__ import annotations

from benchmarks.protocol.records import Continuation, Prompt, read_records
from benchmarks.protocol.results import Results
from benchmarks.protocol.runs import RunFolder
from benchmarks.report.blocks import ReportSample

SAMPLES = 6


def samples_of(folder: RunFolder, results: Results) -> list[ReportSample]:
    """What everybody wrote after the first prompts of the first seed."""
    seed = int(next(iter(results["prompts"])))
    prompts = read_records(folder.file("prompts", f"{seed}.jsonl"), Prompt)[:SAMPLES]
    written: dict[str, dict[str, Continuation]] = {}
    for entry in results["contestants"]:
        made = read_records(folder.file("generations", f"{entry['file']}.jsonl"), Continuation)
        written[entry["name"]] = {one.prompt_id: one for one in made if one.seed == seed}
    viewers = {entry["name"]: entry["viewer"] for entry in results["contestants"]}
    return [
        ReportSample(
            prompt.text,
            tuple(
                (name, texts[prompt.id].continuation, f"{viewers[name]}#{number}" if viewers[name] else None)
                for name, texts in written.items()
            ),
        )
        for number, prompt in enumerate(prompts)
    ]
