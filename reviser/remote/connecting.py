"""`openai:URL#NAME=LOCAL`: connection to a served model, checked against the local model of the same vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from reviser.checkpoints.description import Description, describe, load_tokenizer
from reviser.checkpoints.library import default_model, find_model, name_of
from reviser.checkpoints.operators import operator_names
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary
from reviser.decoding.policy import LoadedModel
from reviser.remote.client import CompletionsClient, RequestRefused, ServerError
from reviser.remote.policy import RemotePolicy

SCHEME = "openai:"
_PROBE = "The quick, brown fox:\n it's 7 o'clock… 漢字"


@dataclass(frozen=True)
class ServedModel:
    """A parsed `openai:` name: server, its model, and the local model with the same tokenizer (None: default)."""

    url: str
    model: str | None = None
    local: str | None = None

    @classmethod
    def parse(cls, text: str) -> ServedModel:
        url, _, names = text.removeprefix(SCHEME).partition("#")
        model, _, local = names.partition("=")
        return cls(url, model or None, local or None)


def connect(text: str, longest: int) -> LoadedModel:
    """The model that `openai:URL#NAME=LOCAL` names; raises `ReviserError` if it is not there or does not match."""
    served = ServedModel.parse(text)
    client = CompletionsClient(served.url)
    record = _record(client, served.model)
    name = str(record["id"])
    # What stands for the served model here must not be a served model itself.
    description = describe(find_model(served.local) if served.local else default_model())
    vocabulary = description.vocabulary
    _, tokenizer = load_tokenizer(description)
    _check_vocabulary(client, name, record, description, tokenizer)
    context = min(description.config.context, longest)
    # vLLM counts the id to be chosen, too.
    most = record.get("max_model_len")
    if isinstance(most, int) and most > 1:
        context = min(context, most - 1)
    policy = RemotePolicy(client, name, vocabulary, context, description.config.canvas_length)
    return LoadedModel(f"{name} at {client.address}", policy, tokenizer)


def _record(client: CompletionsClient, wanted: str | None) -> Mapping[str, Any]:
    """The server's record of a model, by default of its first."""
    answer = client.get("/v1/models")
    try:
        models = {str(model["id"]): model for model in answer["data"]}
    except (KeyError, TypeError):
        raise ServerError(f"the server at {client.address} lists no models") from None
    if not models:
        raise ServerError(f"the server at {client.address} has no model")
    if wanted is None:
        return next(iter(models.values()))
    if wanted not in models:
        raise ServerError(f"the server at {client.address} has no model {wanted}; it has {', '.join(models)}")
    return models[wanted]  # type: ignore[no-any-return]


def _check_vocabulary(
    client: CompletionsClient, name: str, record: Mapping[str, Any], here: Description, tokenizer: Tokenizer
) -> None:
    """Raise an error unless ids mean the same on the server, by its record or by a test request."""
    vocabulary = here.vocabulary
    known = name_of(here.folder)
    other = ServerError(
        f"the model {name} at {client.address} has another vocabulary than {known}; say which model here has "
        f"the same: {SCHEME}{client.address}#{name}=MODEL"
    )
    told = record.get("reviser")
    if isinstance(told, Mapping):
        try:
            there = Vocabulary.from_dict(dict(told["vocabulary"]))
            same = replace(there, name="") == replace(vocabulary, name="")
        except (ReviserError, KeyError, TypeError, ValueError):
            same = False
        if not same:
            raise other
    names = operator_names(vocabulary)
    probe = _PROBE + names[vocabulary.stop_id]
    try:
        answer = client.post("/tokenize", {"model": name, "prompt": probe})
        got = [int(id) for id in answer["tokens"]]
    except RequestRefused as error:
        if error.status in (404, 405):
            return  # not every server has it; ids that cannot be are refused as they come
        raise
    except (KeyError, TypeError, ValueError):
        return
    if got != [vocabulary.start_id, *tokenizer.encode(_PROBE), vocabulary.stop_id]:
        raise other
