"""`reviser mcp` over standard input and output, with the client of the protocol's own package."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from reviser.core.errors import ReviserError
from tests.commands import reviser
from tests.reviser.cli.test_replay import complains

mcp = pytest.importorskip("mcp")

from reviser.mcp.server import LARGEST, MOST_ACTIONS, Workspace  # noqa: E402

TEXT = "The cat sat.\nIt was happy.\n"
# The command, with another limit for documents.
SMALLER = """
import runpy, sys
from reviser.mcp import server
server.LARGEST = int(sys.argv.pop(1))
runpy.run_module("reviser", run_name="__main__", alter_sys=True)
"""
MEGABYTE = 1 << 20


class Agent:
    """Calls tools and reads their answers."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def __call__(self, tool: str, path: str | Path, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, {"path": str(path), **arguments})
        assert not result.is_error, result.content
        return str(result.content[0].text)

    async def refused(self, tool: str, path: str | Path, **arguments: Any) -> str:
        result = await self.client.call_tool(tool, {"path": str(path), **arguments})
        assert result.is_error
        assert "Traceback" not in result.content[0].text
        return str(result.content[0].text)


@asynccontextmanager
async def agent_for(*folders: Path, largest: int = LARGEST) -> AsyncIterator[Agent]:
    words = ["mcp", *map(str, folders)]
    args = ["-m", "reviser", *words] if largest == LARGEST else ["-c", SMALLER, str(largest), *words]
    command = mcp.StdioServerParameters(command=sys.executable, args=args)
    async with mcp.Client(command) as client:
        yield Agent(client)


def session(folder: Path, play: Callable[[Agent], Awaitable[None]], *, largest: int = LARGEST) -> None:
    async def whole() -> None:
        async with agent_for(folder, largest=largest) as agent:
            await play(agent)

    anyio.run(whole)


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder for the agent, with things around it that are not for the agent."""
    folder = tmp_path / "room"
    (folder / "sub").mkdir(parents=True)
    (folder / "note.txt").write_text(TEXT)
    (folder / "sub" / "deep.txt").write_text("deep\n")
    (tmp_path / "secret.txt").write_text("secret\n")
    (tmp_path / "room2").mkdir()
    (tmp_path / "room2" / "other.txt").write_text("other\n")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(tmp_path)
    (folder / "inner.txt").symlink_to(folder / "sub" / "deep.txt")
    os.mkfifo(folder / "pipe")
    return folder


def test_an_agent_edits_a_document(room: Path) -> None:
    note = room / "note.txt"

    async def play(agent: Agent) -> None:
        tools = {tool.name for tool in (await agent.client.list_tools()).tools}
        assert tools == {"open", "act", "view", "undo", "diff", "save", "close"}
        assert "2 lines, 27 characters" in await agent("open", "note.txt")
        changed = await agent(
            "act",
            "note.txt",
            actions=[
                {"action": "move", "after": "cat"},
                {"action": "span_delete", "k": 3},
                {"action": "insert", "text": "dog"},
            ],
        )
        assert "-The cat sat.\n+The dog sat.\n" in changed
        assert "line 1, column 8" in changed
        assert await agent("view", note, first_line=2) == ("2  It was happy.\n3  \n(the cursor is at line 1, column 8)")
        said = await agent.refused(
            "act", "note.txt", actions=[{"action": "delete"}, {"action": "move", "after": "mouse"}]
        )
        assert said.endswith("action 1: the text 'mouse' is not there")
        assert "+The dog sat." in await agent("diff", "note.txt")
        assert note.read_text() == TEXT
        await agent("undo", "note.txt")
        assert "+The  sat." in await agent("diff", "note.txt")
        await agent("undo", "note.txt", count=2)
        assert await agent("diff", "note.txt") == "nothing is changed"
        await agent.refused("undo", "note.txt")
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "End.\n"}])
        await agent("save", "note.txt")
        assert note.read_text() == TEXT + "End.\n"
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "!"}])
        note.write_text("someone else\n")
        assert "someone else" in await agent.refused("save", "note.txt")
        await agent("close", "note.txt")
        assert "not open" in await agent.refused("view", "note.txt")
        assert note.read_text() == "someone else\n"

    session(room, play)


def test_nothing_outside_the_folders_is_touched(room: Path) -> None:
    async def play(agent: Agent) -> None:
        for path in (
            room.parent / "secret.txt",
            "../secret.txt",
            "sub/../../secret.txt",
            "../room2/other.txt",
            "link.txt",
            "out/secret.txt",
            "out/room2/other.txt",
            "/etc/passwd",
            "note.txt\0",
        ):
            assert "not in a folder" in await agent.refused("open", path)
        for path in ("missing.txt", "sub", "pipe", ""):
            assert "no file" in await agent.refused("open", path)
        await agent("open", "inner.txt")
        await agent("open", "out/room/note.txt")
        # Between opening and saving, the file gives way to a link that leads outside.
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "x"}])
        (room / "note.txt").unlink()
        (room / "note.txt").symlink_to(room.parent / "secret.txt")
        assert "not in a folder" in await agent.refused("save", "note.txt")
        assert (room.parent / "secret.txt").read_text() == "secret\n"

    session(room, play)


def test_a_document_can_be_read_again_and_keeps_its_encoding(room: Path) -> None:
    note = room / "note.txt"
    note.write_bytes("Zoë sat.\r\n".encode("cp1252"))

    async def play(agent: Agent) -> None:
        await agent("open", "note.txt")
        nul = await agent.refused("act", "note.txt", actions=[{"action": "insert", "text": "\0"}])
        assert "cannot take a NUL" in nul
        foreign = await agent.refused("act", "note.txt", actions=[{"action": "insert", "text": "ж"}])
        assert "is in windows-1252, which has no “ж”" in foreign
        assert await agent("diff", "note.txt") == "nothing is changed"
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "É\n"}])
        await agent("save", "note.txt")
        await agent("close", "note.txt")
        assert note.read_bytes() == "Zoë sat.\r\nÉ\r\n".encode("cp1252")
        note.write_bytes("Добрый день\n".encode("cp1251"))
        assert "--encoding" in await agent.refused("open", "note.txt")
        await agent("open", "note.txt", encoding="windows-1251")
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "ж"}])
        await agent("save", "note.txt")
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "!"}])
        await agent("save", "note.txt")
        assert note.read_bytes() == "Добрый день\nж!".encode("cp1251")

    session(room, play)


def test_protected_lines(room: Path) -> None:
    async def play(agent: Agent) -> None:
        await agent("open", "note.txt", protect_lines=[[1, 1]])
        steps = [{"action": "move", "after": "cat"}, {"action": "delete"}]
        assert "protected" in await agent.refused("act", "note.txt", actions=steps)
        await agent("act", "note.txt", actions=[{"action": "insert", "text": "Yes.\n"}])
        await agent.refused("open", "sub/deep.txt", protect_lines=[[3, 4]])

    session(room, play)


def test_undo_counts_actions_and_not_calls(room: Path) -> None:
    async def play(agent: Agent) -> None:
        (tool,) = [t for t in (await agent.client.list_tools()).tools if t.name == "undo"]
        assert "counts single actions, not calls of `act`" in tool.description
        await agent("open", "note.txt")
        steps = [{"action": "move", "line": 1}, {"action": "insert", "text": "a long text. "}]
        await agent("act", "note.txt", actions=steps)
        await agent.refused("act", "note.txt", actions=[{"action": "delete"}, {"action": "nothing"}])
        await agent("undo", "note.txt")
        assert await agent("diff", "note.txt") == "nothing is changed"
        assert "line 1, column 1" in await agent("view", "note.txt")
        said = await agent.refused("undo", "note.txt", count=2)
        assert said.endswith("1 action can be undone, not 2")
        assert "line 3, column 1" in await agent("undo", "note.txt", count=1)

    session(room, play)


def test_a_document_stays_within_what_may_be_opened(room: Path) -> None:
    half = "x" * (MEGABYTE // 2)
    (room / "half.txt").write_text(half)

    async def play(agent: Agent) -> None:
        await agent("open", "half.txt")
        for actions, said in (
            ([{"action": "insert", "text": half + half + "x"}], "write more than 1 MB"),
            ([{"action": "insert", "text": half + "x"}], "full"),
            ([{"action": "insert", "text": "é" * (MEGABYTE // 3)}], "larger than 1 MB"),
            ([{"action": "span_copy", "k": len(half), "j": 0}] * 2, "full"),
            ([{"action": "delete"}] * (MOST_ACTIONS + 1), "more than the 10000 of a call"),
        ):
            assert said in await agent.refused("act", "half.txt", actions=actions)
        assert await agent("diff", "half.txt") == "nothing is changed"
        await agent("act", "half.txt", actions=[{"action": "insert", "text": half}])
        await agent("save", "half.txt")
        await agent("close", "half.txt")
        await agent("open", "half.txt")

    session(room, play, largest=MEGABYTE)


def test_a_long_call_does_not_hold_up_one_on_another_document(room: Path) -> None:
    (room / "long.txt").write_text("x\n" * (LARGEST // 8))

    async def play(agent: Agent) -> None:
        await agent("open", "long.txt")
        await agent("open", "note.txt")
        finished: list[str] = []

        async def call(name: str, tool: str, path: str, **arguments: Any) -> None:
            await agent(tool, path, **arguments)
            finished.append(name)

        steps = [{"action": "insert", "text": "y"}, {"action": "move", "line": 1}] * 10
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(call, "long", "act", "long.txt", actions=steps))
            # The server has the long call before it gets these.
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(partial(call, "same document", "view", "long.txt", last_line=1))
            for _ in range(3):
                await call("short", "view", "note.txt")
        # Calls on one document keep their order.
        assert finished == ["short", "short", "short", "long", "same document"]

    session(room, play)


def test_the_folders_must_be_there(tmp_path: Path) -> None:
    complains(reviser("mcp", tmp_path / "none"), "no folder")
    with pytest.raises(ReviserError, match="name the folders"):
        Workspace.of([])
