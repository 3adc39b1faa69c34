"""The protocol on top of pygls: documents are kept equal to the editor's, and errors are sent to the request that
caused them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Generator
from typing import Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from lsp_server.messages import UnreadableAnswer

logger = logging.getLogger(__name__)


class ReviserProtocol(LanguageServerProtocol):
    """pygls's protocol without its text documents, whose line endings differ from the standard's."""

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Generator[Any, Any, None]:
        yield self.fm.features[types.TEXT_DOCUMENT_DID_CLOSE], (params,), None

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Parse a message. A request that cannot be parsed is answered with an error and then ignored."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" not in data:
                raise
            if "id" in data:
                self._send_response(data["id"], error=error.to_response_error())
            logger.warning("%s cannot be read: %s", data["method"], error)
            return types.SetTraceNotification(types.SetTraceParams(self.trace))

    def handle_message(self, message: Any) -> None:
        """Handle a message. Before `initialize`, requests are refused and notifications dropped; a second `initialize`
        is refused.
        """
        if not hasattr(message, "jsonrpc"):
            raise JsonRpcInvalidRequest("this is no message of JSON-RPC")
        method = getattr(message, "method", None)
        if self._shutdown and method not in (types.EXIT, None) and hasattr(message, "id"):
            refusal = JsonRpcInvalidRequest("the server is shutting down")
            self._send_response(message.id, error=refusal.to_response_error())
            return
        if self._workspace is not None and method == types.INITIALIZE:
            again = JsonRpcInvalidRequest("the server has been initialized already")
            self._send_response(message.id, error=again.to_response_error())
            return
        ready = self._workspace is not None or method in (types.INITIALIZE, types.EXIT, None)
        if ready:
            super().handle_message(message)
        elif (id := getattr(message, "id", None)) is not None:
            error = JsonRpcServerNotInitialized("the first request must be initialize")
            self._send_response(id, error=error.to_response_error())

    def leave_undone(self, fields: dict[str, Any]) -> None:
        """Drop a message that is not wanted any more; a request is answered with an error."""
        if "method" in fields and fields.get("id") is not None:
            refusal = JsonRpcRequestCancelled("this is not wanted any more")
            self._send_response(fields["id"], error=refusal.to_response_error())

    def answer_unreadable(self, error: Exception) -> None:
        """Answer a message that could not be parsed with an error."""
        if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
            error = JsonRpcParseError(f"this is not JSON: {error}")
        if not isinstance(error, JsonRpcException):
            error = JsonRpcInvalidRequest(str(error))
        self._send_data(UnreadableAnswer(error.to_response_error()))


def invalid(message: str) -> JsonRpcInvalidParams:
    """The error for a request with invalid parameters."""
    return JsonRpcInvalidParams(message)
