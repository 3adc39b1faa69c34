"""The errors that a user can cause; the message of each is one plain sentence."""


class ReviserError(Exception):
    """An error that the user can fix: programs print its message, without a traceback, and exit non-zero."""

    exit_status = 2


class InvalidAction(ReviserError):
    """An action that the canvas refuses in its present state."""


class UnknownId(ReviserError):
    """An id that stands for no action in the vocabulary at hand."""


class BadTrajectory(ReviserError):
    """A trajectory file that cannot be read or replayed."""


class NotText(ReviserError):
    """A file that holds no text."""


class UnknownEncoding(NotText):
    """A file that may hold text, in an encoding that is unknown or is not the one that was named."""


class FileChanged(ReviserError):
    """A file that another program wrote after it was read; it is left as it is."""

    exit_status = 1
