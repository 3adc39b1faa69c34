"""The checker of many documents: cached results are looked up, other documents are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reviser.checking.cache import Cache, Keys, model_digest
from reviser.checking.findings import Checked, Failed, Result, Source
from reviser.checking.workers import Outcome, ReaderSettings, proofread_in_batches, usual_jobs
from reviser.checkpoints.library import find_model
from reviser.core.errors import ReviserError
from reviser.proofreading.document import Draft
from reviser.proofreading.reading import Tell
from reviser.proofreading.request import Request
from reviser.session.documents import DocumentFile


@dataclass(frozen=True)
class Checker:
    """The settings of a check: what to look for, with which model, in how many processes. `cache_folder` None means
    no cache; `encoding` None means that it is detected."""

    request: Request
    model: str | None = None
    jobs: int | None = None
    threads: int | None = None
    cache_folder: Path | None = None
    encoding: str | None = None

    def read(self, path: Path, name: Path) -> Source | Failed:
        """The document at `path`, reported under `name`; the format follows from the name."""
        try:
            document = DocumentFile.read(path, self.encoding)
            format = self.request.format_of(name, document.text)
            draft = Draft(document.text, format, self.request.words(name), rules=self.request.rules(name))
            return Source(name, document, draft)
        except ReviserError as error:
            return Failed(name, error)

    def check(
        self, sources: Sequence[Source | Failed], tell: Tell = lambda read, of: None
    ) -> Iterator[Checked | Failed]:
        """The checked documents, in the order of the sources; `tell` is called with the number of sentences read and
        their total."""
        cache = None if self.cache_folder is None else Cache(self.cache_folder)
        outcomes: dict[int, Outcome] = {}
        place = 0
        try:
            for some in self._outcomes(sources, cache, tell):
                outcomes |= some
                while place in outcomes:
                    yield self._checked(sources[place], outcomes.pop(place))
                    place += 1
        finally:
            if cache is not None:
                cache.close()

    def _outcomes(
        self, sources: Sequence[Source | Failed], cache: Cache | None, tell: Tell
    ) -> Iterator[dict[int, Outcome]]:
        """The outcomes of the documents by their numbers, cached ones first."""
        known: dict[int, Outcome] = {}
        unread: dict[int, Draft] = {}
        for number, source in enumerate(sources):
            if isinstance(source, Failed):
                known[number] = source.error
            else:
                unread[number] = source.draft
        keys: dict[int, str] = {}
        if cache is not None and unread:
            maker = Keys(self.request, model_digest(find_model(self.model), cache))
            keys = {number: maker.key(draft) for number, draft in unread.items()}
            for number, key in keys.items():
                if (result := cache.get(key, unread[number].text)) is not None:
                    known[number] = result
                    del unread[number]
        yield known
        for done in self._read(list(unread.values()), tell):
            numbers = list(unread)
            found = {numbers[number]: outcome for number, outcome in done.items()}
            if cache is not None:
                cache.put({keys[n]: one for n, one in found.items() if isinstance(one, Result)})
            yield found

    def _read(self, drafts: Sequence[Draft], tell: Tell) -> Iterator[dict[int, Outcome]]:
        reading = ReaderSettings(self.model, self.request.confidence, self.request.kinds, self.threads)
        jobs = self.jobs or usual_jobs()
        return proofread_in_batches(drafts, reading, jobs, tell)

    def _checked(self, source: Source | Failed, outcome: Outcome) -> Checked | Failed:
        """The outcome of a document without the findings that its project ignores. That is applied after the cache,
        as the list of ignored findings may change."""
        if isinstance(source, Failed):
            return source
        if isinstance(outcome, ReviserError):
            return Failed(source.name, outcome)
        try:
            wanted = self.request.wanted(source.name, source.draft, outcome.changes)
        except ReviserError as error:
            return Failed(source.name, error)
        return Checked(source, outcome._replace(changes=wanted))
