"""Judges: which of two continuations of one prompt is better, by likelihood or in a chat model's opinion."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch

from reviser.scoring.evaluators import load_evaluator
from reviser.scoring.loading import default_device, fingerprint, load_causal_lm, load_hf_tokenizer
from reviser.scoring.perplexity import Evaluator, Loss, PromptedText

SKYWORK = "Skywork/Skywork-Critic-Llama-3.1-8B"
LIKELIHOOD = "likelihood:"

# What a judge says of the two continuations in the order in which it was shown them.
Answer = Literal["A", "B", "tie", "invalid"]


@dataclass(frozen=True)
class Case:
    """One comparison: a prompt and its two continuations."""

    prompt: str
    a: str
    b: str


class Judge(Protocol):
    """Decides which of two continuations is better."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """A text that changes with whatever the judge's answers depend on."""

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        """The answer to each case, in order; each depends on its own case alone."""


class LikelihoodJudge:
    """Prefers the continuation that an evaluator finds likelier per byte.

    It needs no chat model and ignores order, but it favours dull text: repetition is likely. An empty continuation
    loses, and two of them are a tie.
    """

    def __init__(self, evaluator: Evaluator, weights: str) -> None:
        self.name = f"{LIKELIHOOD}{evaluator.name}"
        self.fingerprint = f"{LIKELIHOOD}{weights}"
        self._evaluator = evaluator

    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        texts = [PromptedText(case.prompt, shown) for case in cases for shown in (case.a, case.b)]
        losses = self._evaluator.losses(texts)
        return [_likelier(a, b) for a, b in zip(losses[::2], losses[1::2], strict=True)]


def _likelier(a: Loss, b: Loss) -> Answer:
    costs = [loss.nats_per_byte if loss.nats else float("inf") for loss in (a, b)]
    if costs[0] == costs[1]:
        return "tie"
    return "A" if costs[0] < costs[1] else "B"


_QUESTION = """\
Act as an impartial judge. Two assistants were given the beginning of a text and asked to continue it. \
Decide which of the two continuations is better: the more coherent, fluent and informative one, which \
follows most naturally from the beginning. Let neither the order nor the length of the continuations \
decide. Output your final verdict and nothing else, in exactly this form: "[[A]]" if assistant A is \
better, "[[B]]" if assistant B is better.

[User Question]
Continue this text:
{prompt}

[The Start of Assistant A's Answer]
{a}
[The End of Assistant A's Answer]

[The Start of Assistant B's Answer]
{b}
[The End of Assistant B's Answer]
"""

_ANSWER = re.compile(r"\s*\[\[([AB])\]\]\s*")


def parse_answer(text: str) -> Answer:
    """The answer in a chat model's text: [[A]] or [[B]] and nothing else; anything else is invalid."""
    found = _ANSWER.fullmatch(text)
    if found is None:
        return "invalid"
    return "A" if found[1] == "A" else "B"


class ChatJudge:
    """A judge that asks a chat model, which answers greedily."""

    def __init__(self, name: str, weights: str, model: Any, tokenizer: Any, *, new_tokens: int = 16) -> None:
        self.name = name
        self.fingerprint = weights
        self._model = model
        self._tokenizer = tokenizer
        self._new_tokens = new_tokens

    def question(self, case: Case) -> str:
        """The text that the model reads: the question as the user's turn, and the start of its own."""
        content = _QUESTION.format(prompt=case.prompt, a=case.a, b=case.b)
        if getattr(self._tokenizer, "chat_template", None) is None:
            return content + "\n"
        shown = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
        )
        return str(shown)

    @torch.no_grad()
    def answers(self, cases: Sequence[Case]) -> list[Answer]:
        return [parse_answer(self._reply(case)) for case in cases]

    def _reply(self, case: Case) -> str:
        # One at a time: padding would let neighbours change a verdict in its last digits.
        shown = self._tokenizer(self.question(case), return_tensors="pt", add_special_tokens=False).to(
            self._model.device
        )
        written = self._model.generate(
            input_ids=shown["input_ids"],
            attention_mask=shown["attention_mask"],
            do_sample=False,
            temperature=None,
            top_p=None,
            top_k=None,
            max_new_tokens=self._new_tokens,
            pad_token_id=self._tokenizer.eos_token_id,
        )
        new = written[0, shown["input_ids"].shape[1] :]
        return str(self._tokenizer.decode(new, skip_special_tokens=True))


def load_judge(
    source: str = SKYWORK,
    device: torch.device | None = None,
    load: Callable[[str, torch.device], Evaluator] = load_evaluator,
) -> Judge:
    """The judge `likelihood:EVALUATOR`, or a chat model by folder or hub name; `load` loads evaluators."""
    device = device or default_device()
    if source.startswith(LIKELIHOOD):
        source = source.removeprefix(LIKELIHOOD)
        return LikelihoodJudge(load(source, device), fingerprint(source))
    model, tokenizer = load_causal_lm(source, device), load_hf_tokenizer(source)
    return ChatJudge(source, fingerprint(source), model, tokenizer)
