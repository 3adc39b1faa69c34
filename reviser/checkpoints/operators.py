"""Operator ids after a base vocabulary: appended to a pretrained model, and named for other engines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reviser.core.actions import Action, Move, Replace, SpanCopy, SpanDelete, SpanMove
from reviser.core.errors import ReviserError
from reviser.core.tokenizer import Tokenizer
from reviser.core.vocabulary import Vocabulary

if TYPE_CHECKING:
    from reviser.model import Reviser


def base_vocabulary(base_size: int, tokenizer: Tokenizer, name: str) -> Vocabulary:
    """The vocabulary of a pretrained model with `base_size` embedding rows and this tokenizer.

    Models often have more rows than their tokenizer has ids, to reach a round number; such rows stand for no text and
    are never inserted.
    """
    if tokenizer.size > base_size:
        raise ReviserError(f"the tokenizer has {tokenizer.size} ids and the model only {base_size} rows for them")
    textless = {token for token in range(base_size) if not tokenizer.token_bytes(token)}
    return Vocabulary(base_size, tokenizer.markers | textless, name=name)


def append_operators(model: Reviser, tokenizer: Tokenizer, name: str) -> Vocabulary:
    """Give a pretrained model rows for the operators; returns its vocabulary.

    The rows are untrained, so until training the model can only insert.
    """
    from reviser.model import resize_vocabulary

    vocabulary = base_vocabulary(model.config.vocab_size, tokenizer, name)
    resize_vocabulary(model, vocabulary.size)
    return replace(vocabulary, kinds=frozenset({"insert"}))


def operator_names(vocabulary: Vocabulary) -> dict[int, str]:
    """The names of the operator ids as tokens of other engines."""
    first, last = vocabulary.first_reserved_id, vocabulary.first_extension_id
    names = {id: f"reserved-{id - first}" for id in range(first, last)}
    names |= {vocabulary.cursor_id: "cursor", vocabulary.start_id: "start"}
    ids = range(vocabulary.base_size, vocabulary.size)
    return {id: f"<|{names.get(id) or _action_name(vocabulary.action(id))}|>" for id in ids}


def _action_name(action: Action) -> str:
    kind = action.kind.replace("_", "-")
    match action:
        case Move(delta):
            return f"{kind}{delta:+}"
        case Replace(detail) | SpanDelete(detail):
            return f"{kind}-{detail}"
        case SpanMove(k, jump, right) | SpanCopy(k, jump, right):
            return f"{kind}-{'right' if right else 'left'}-{k}{jump:+}"
        case _:
            return kind
