"""Model configuration: a frozen dataclass, its JSON form and the named presets."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, get_args, get_origin


@dataclass(frozen=True)
class ModelConfig:
    """Everything that decides which parameters a model has and how it computes.

    `kind` chooses the norm and the MLP: "paper" is LayerNorm and a biased GELU MLP, "llama" is
    RMSNorm and SwiGLU. Attention is the same in both: no biases, RoPE, grouped when
    `kv_heads < heads`.

    `context` counts history ids, END_OF_INPUT among them. `canvas_length` counts canvas tokens,
    the cursor marker among them when the caller places one.

    Canvas conditioning is off unless asked for. `canvas_input` adds the pooled canvas to the
    inputs, as it is ("identity") or through a learned matrix ("linear"). `cross_layers` is how
    many of the last layers attend to the canvas: to its pooled vector or to its tokens
    (`cross_memory`), gated by nothing, a scalar per layer or a small MLP (`cross_gate`).
    `cursor_id` tells the caller which id marks the cursor inside such a canvas.
    """

    kind: Literal["paper", "llama"]
    vocab_size: int
    layers: int
    width: int
    heads: int
    kv_heads: int
    ff: int
    context: int
    canvas_length: int
    norm_eps: float = 1e-5
    rope_theta: float = 10_000.0
    tied: bool = True
    dropout: float = 0.0
    canvas_input: Literal["none", "identity", "linear"] = "none"
    cross_layers: int = 0
    cross_memory: Literal["pooled", "tokens"] = "pooled"
    cross_gate: Literal["none", "scalar", "mlp"] = "none"
    cursor_id: int | None = None

    def __post_init__(self) -> None:
        _check_types(self)
        _check_values(self)

    @property
    def head_dim(self) -> int:
        return self.width // self.heads

    @property
    def pools_canvas(self) -> bool:
        """Whether the canvas is pooled into one vector at each step."""
        return self.canvas_input != "none" or (self.cross_layers > 0 and self.cross_memory == "pooled")

    @property
    def uses_canvas(self) -> bool:
        """Whether a forward pass needs the canvases beside the history."""
        return self.canvas_input != "none" or self.cross_layers > 0

    @property
    def cross_reads_history(self) -> bool:
        """Whether cross-attention depends on the history's state, not on the canvas alone."""
        return self.cross_memory == "tokens" or self.cross_gate == "mlp"

    def to_dict(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "ModelConfig":
        fields = {field.name: field for field in dataclasses.fields(cls)}
        for key in values:
            if key not in fields:
                import difflib

                near = difflib.get_close_matches(str(key), fields, n=1)
                hint = f" (did you mean '{near[0]}'?)" if near else ""
                raise ValueError(f"Unknown model setting '{key}'{hint}.")
        for name, field in fields.items():
            if field.default is dataclasses.MISSING and name not in values:
                raise ValueError(f"The model setting '{name}' is missing.")
        return cls(**values)


def _check_types(config: ModelConfig) -> None:
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if get_origin(field.type) is Literal:
            choices = get_args(field.type)
            if value not in choices:
                raise ValueError(f"{field.name} must be {' or '.join(choices)}, not {value!r}.")
            continue
        # bool is an int to Python, and a JSON writer may drop the ".0" of a float: the first is
        # refused where a number is wanted, the second is taken.
        allowed: tuple[Any, ...] = get_args(field.type) or (field.type,)
        if float in allowed:
            allowed = (int, float)
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            wanted = getattr(field.type, "__name__", str(field.type))
            raise ValueError(f"{field.name} must be {wanted}, not {value!r}.")


# Beyond any model that this program could hold: larger numbers are mistakes or tricks.
_LARGEST: Final = MappingProxyType(
    {
        "vocab_size": 1 << 24,
        "layers": 1 << 12,
        "width": 1 << 17,
        "heads": 1 << 12,
        "kv_heads": 1 << 12,
        "ff": 1 << 20,
        "context": 1 << 24,
        "canvas_length": 1 << 24,
    }
)


def _check_values(config: ModelConfig) -> None:
    for name, largest in _LARGEST.items():
        value = getattr(config, name)
        if value < 1:
            raise ValueError(f"{name} must be at least 1, not {value}.")
        if value > largest:
            raise ValueError(f"{name} must be at most {largest}, not {value}.")
    if config.width % config.heads:
        raise ValueError(f"width {config.width} does not divide into {config.heads} heads.")
    if config.head_dim % 2:
        raise ValueError(f"Rotary positions need an even head size, not {config.head_dim}.")
    if config.heads % config.kv_heads:
        raise ValueError(f"{config.heads} heads do not divide into {config.kv_heads} key/value heads.")
    # These comparisons are false for what is not a number.
    if not 0 < config.norm_eps <= 1:
        raise ValueError(f"norm_eps must be above 0 and at most 1, not {config.norm_eps}.")
    if not 0 < config.rope_theta <= 1e12:
        raise ValueError(f"rope_theta must be above 0 and at most 1e12, not {config.rope_theta}.")
    if not 0 <= config.dropout < 1:
        raise ValueError(f"dropout must be in [0, 1), not {config.dropout}.")
    if not 0 <= config.cross_layers <= config.layers:
        raise ValueError(f"cross_layers must be in [0, {config.layers}], not {config.cross_layers}.")
    if config.cursor_id is not None and not 0 <= config.cursor_id < config.vocab_size:
        raise ValueError(f"cursor_id {config.cursor_id} is outside the vocabulary of {config.vocab_size} ids.")


_PRESETS: Final[Mapping[str, ModelConfig]] = MappingProxyType(
    {
        # A context of END_OF_INPUT and 255 actions (511 for the larger model).
        "paper-100m": ModelConfig(
            kind="paper",
            vocab_size=50291,
            layers=24,
            width=512,
            heads=8,
            kv_heads=8,
            ff=2048,
            context=256,
            canvas_length=512,
            dropout=0.1,
            cursor_id=50257,
        ),
        "paper-300m": ModelConfig(
            kind="paper",
            vocab_size=50291,
            layers=26,
            width=896,
            heads=14,
            kv_heads=14,
            ff=3584,
            context=512,
            canvas_length=512,
            dropout=0.1,
            cursor_id=50257,
        ),
        # SmolLM2-135M with 34 operator ids after its own 49152.
        "smol": ModelConfig(
            kind="llama",
            vocab_size=49152 + 34,
            layers=30,
            width=576,
            heads=9,
            kv_heads=3,
            ff=1536,
            context=2048,
            canvas_length=2048,
            rope_theta=100_000.0,
        ),
        # The paper's architecture at a third of its size: learns more from each id that a small budget has.
        "paper-small": ModelConfig(
            kind="paper",
            vocab_size=50291,
            layers=8,
            width=384,
            heads=6,
            kv_heads=6,
            ff=1536,
            context=256,
            canvas_length=512,
            dropout=0.1,
            cursor_id=50257,
        ),
        "tiny": ModelConfig(
            kind="llama", vocab_size=128, layers=2, width=32, heads=4, kv_heads=2, ff=64, context=128, canvas_length=128
        ),
        "tiny-paper": ModelConfig(
            kind="paper",
            vocab_size=128,
            layers=2,
            width=32,
            heads=4,
            kv_heads=4,
            ff=128,
            context=128,
            canvas_length=128,
            dropout=0.1,
        ),
    }
)


def preset_names() -> tuple[str, ...]:
    return tuple(_PRESETS)


def preset(name: str, **changes: Any) -> ModelConfig:
    """A named configuration, with any of its settings changed: `preset("tiny", vocab_size=300)`."""
    if name not in _PRESETS:
        raise ValueError(f"No model preset '{name}': choose from {', '.join(_PRESETS)}.")
    return ModelConfig.from_dict({**_PRESETS[name].to_dict(), **changes})
