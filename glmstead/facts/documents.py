"""JSON documents that lie on a host: receipts of what an earlier deploy saw."""

from pyinfra.api import QuoteString, StringCommand

from glmstead.facts.json_probe import JsonProbe


class JsonDocument(JsonProbe):
    """The document of a file, of one line; None for a missing file."""

    def command(self, path: str) -> StringCommand:
        name = QuoteString(path)
        return StringCommand("if test -e", name, "; then cat", name, "; else echo null; fi")
