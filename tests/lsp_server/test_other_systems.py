"""The language server on systems without local sockets."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from lsp_server.worker.process import serve_socket
from reviser.core.errors import ReviserError


def test_an_engine_is_not_shared_without_local_sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    with pytest.raises(ReviserError, match="cannot be shared on Windows"):
        serve_socket(tmp_path / "run" / "engine.sock")
    assert list(tmp_path.iterdir()) == []
