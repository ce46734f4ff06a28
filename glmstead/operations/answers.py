"""Readiness is an answer: the operation that ends every deploy."""

from collections.abc import Generator

from pyinfra import host
from pyinfra.api import StringCommand, operation

from glmstead.answers.questions import asks, judge, quick
from glmstead.facts.answers import Answers
from glmstead.operations.refusal import refuse


@operation()
def answers_well(
    url: str,
    key_file: str,
    model: str,
    long_lines: int,
    tools: bool,
    thinking: bool,
    timeout_s: int,
) -> Generator[StringCommand, None, None]:
    """
    Ask the endpoint questions with known answers; fail this host when one is wrong.

    + url: the gateway, as this host reaches it
    + key_file: environment file on the host that holds the key
    + model: name of the model to ask
    + long_lines: lines of the log that hides the passphrase
    + tools: whether the engine has a tool parser
    + thinking: whether the engine has a reasoning parser
    + timeout_s: bound on one answer, seconds
    """
    asked = quick(long_lines, tools, thinking)
    request = {"url": url, "key_file": key_file, "timeout_s": timeout_s}
    request["asks"] = asks(asked, model)
    wrong = judge(asked, host.get_fact(Answers, request=request))
    if wrong:
        yield refuse(f"{len(wrong)} of {len(asked)} answers are wrong: {'; '.join(wrong)}")
    else:
        host.noop(f"{len(asked)} of {len(asked)} answers are right")
