"""Readiness is an answer: the operation that ends every deploy."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead.answers.questions import judge, smoke_questions, wire_formats
from glmstead.facts.answers import Answers
from glmstead.operations.refusal import refuse


@operation()
def answers_well(
    url: str, key_file: str, model: str, long_lines: int, timeout_s: int
) -> Generator[StringCommand, None, None]:
    """
    Ask the endpoint questions with known answers; fail this host when one is wrong.

    + url: the gateway, as this host reaches it
    + key_file: environment file on the host that holds the key
    + model: name of the model to ask
    + long_lines: lines of the log that hides the passphrase
    + timeout_s: bound on one answer, seconds
    """
    questions = smoke_questions(long_lines)
    asks = wire_formats(questions, model)
    request = {"url": url, "key_file": key_file, "timeout_s": timeout_s, "asks": asks}
    wrong = judge(questions, host.get_fact(Answers, request=request))
    if wrong:
        yield refuse(f"{len(wrong)} of {len(asks)} answers are wrong: {'; '.join(wrong)}")
    else:
        host.noop(f"{len(asks)} of {len(asks)} answers are right")
