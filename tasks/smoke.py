"""The questions that end every deploy: ready means it answered well."""

from pyinfra import host
from pyinfra.api import deploy

from glmstead import places
from glmstead.operations.answers import answers_well
from glmstead.serving import gateway_url
from glmstead.settings import Settings


@deploy("Smoke")
def ask_questions(settings: Settings) -> None:
    if "gateway" not in host.groups or not settings.smoke.enabled:
        return
    answers_well(
        name="The endpoint answers well",
        url=gateway_url(settings),
        key_file=places.GATEWAY_ENV,
        model=settings.vllm.served_model_name,
        long_lines=settings.smoke.long_lines,
        tools=settings.vllm.tool_call_parser is not None,
        thinking=settings.vllm.parses_thinking,
        timeout_s=settings.smoke.timeout_s,
    )
