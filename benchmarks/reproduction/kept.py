"""A finished run of the benchmark, whose stored texts can be measured again without the models."""

from __future__ import annotations

from benchmarks.protocol.records import Continuation, Prompt, read_records
from benchmarks.protocol.results import REAL
from benchmarks.protocol.runs import ProgressBars, RunCache, RunFolder, file_name
from benchmarks.suite import Suite, SuitePlan, WrittenRuns


class KeptSuite(Suite):
    """A suite that reads the texts of a run from its folder; models and data are not needed."""

    def __init__(self, plan: SuitePlan, folder: RunFolder, cache: RunCache, bars: ProgressBars) -> None:
        self.plan = plan
        self.folder = folder
        self.cache = cache
        self.bars = bars
        self.missing = []
        self._loaded = None
        self.prompts = {
            int(path.stem): read_records(path, Prompt) for path in sorted((folder.path / "prompts").glob("*.jsonl"))
        }
        self._by_id = {prompt.id: prompt for part in self.prompts.values() for prompt in part}

    def written(self) -> list[WrittenRuns]:
        """Reads the texts of every contestant of the run."""
        found = []
        for name, source in [(REAL, REAL), *self.plan.named_models()]:
            path = self.folder.path / "generations" / f"{file_name(name)}.jsonl"
            if path.exists():
                by_seed: dict[int, list[Continuation]] = {}
                for entry in read_records(path, Continuation):
                    by_seed.setdefault(entry.seed, []).append(entry)
                found.append(WrittenRuns(name, source, by_seed, [], None, None))
        return found
