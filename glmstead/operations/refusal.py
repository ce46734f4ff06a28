"""How an operation says no: this host fails, with one line; the others are not harmed."""

from pyinfra.api import QuoteString, StringCommand


def refuse(reason: str) -> StringCommand:
    """Command that prints the reason and fails.

    An exception inside an operation would abort every host with a traceback.
    """
    return StringCommand("printf '%s\\n'", QuoteString(" ".join(reason.split())), ">&2; exit 1")
