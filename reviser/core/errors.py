"""The errors that a user can cause; each carries one plain sentence."""


class ReviserError(Exception):
    """Something the user can fix; front ends print its message and exit, without a traceback."""

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
    """A file that may hold text, in an encoding that cannot be told or is not the one that was named."""


class FileChanged(ReviserError):
    """A file that somebody else wrote after it was read, and that is left as it is."""

    exit_status = 1
