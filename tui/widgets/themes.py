"""The two colour themes: calm backgrounds, and one accent for the model."""

from __future__ import annotations

from textual.theme import Theme

DARK = Theme(
    name="dark",
    dark=True,
    primary="#6a9bd8",
    secondary="#8a93a6",
    accent="#e3a857",
    warning="#d9a05b",
    error="#e0707a",
    success="#86b98a",
    foreground="#d5d8df",
    background="#15171c",
    surface="#1e2128",
    panel="#1b1e24",
    variables={
        "scrollbar": "#3a3e48",
        "scrollbar-hover": "#4a4f5b",
        "scrollbar-active": "#5a606e",
        "scrollbar-background": "#1e2128",
        "scrollbar-background-hover": "#1e2128",
        "scrollbar-background-active": "#1e2128",
    },
)
LIGHT = Theme(
    name="light",
    dark=False,
    primary="#3b6fb5",
    secondary="#6b7280",
    accent="#b3541e",
    warning="#9a6400",
    error="#b3363f",
    success="#3d7a48",
    foreground="#26282e",
    background="#fbfaf6",
    surface="#f1efe8",
    panel="#eeebe3",
    variables={
        "scrollbar": "#cfcabc",
        "scrollbar-hover": "#bdb7a6",
        "scrollbar-active": "#a9a290",
        "scrollbar-background": "#f1efe8",
        "scrollbar-background-hover": "#f1efe8",
        "scrollbar-background-active": "#f1efe8",
    },
)
