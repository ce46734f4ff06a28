"""Opens the gateway to people once the endpoint has answered well: run by the gate's unit.

Usage: python -m glmstead.answers.gate CONFIG FOLDER; the key is in LITELLM_MASTER_KEY. Asks with a
token that only this process and the gateway know, and leaves ``open`` in the folder when all
answers are right. Standard library only.
"""

import json
import os
import secrets
import sys
from pathlib import Path

from glmstead.answers.ask import answers_to
from glmstead.answers.questions import asks, judge, quick

TOKEN_HEADER = "X-Glmstead-Gate"


def wrong_answers(config: dict[str, object], token: str) -> tuple[int, list[str]]:
    """How many questions were asked, and a line for each wrong answer."""
    url, model = str(config["url"]), str(config["model"])
    lines = int(str(config["long_lines"]))
    asked = quick(lines, bool(config["tools"]), bool(config["thinking"]))
    request = {"url": url, "timeout_s": config["timeout_s"], "headers": {TOKEN_HEADER: token}}
    request["asks"] = asks(asked, model)
    return len(asked), judge(asked, answers_to(request, os.environ["LITELLM_MASTER_KEY"]))


def main(config_path: str, folder: str) -> int:
    """Ask, and open or say why not."""
    config = json.loads(Path(config_path).read_text())
    opened = Path(folder, "open")
    opened.unlink(missing_ok=True)
    if config["enabled"]:
        token = secrets.token_urlsafe(32)
        secret = os.open(Path(folder, "token"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(secret, "w") as file:
            file.write(token)
        count, wrong = wrong_answers(config, token)
        if wrong:
            print(f"{len(wrong)} of {count} answers are wrong, the gateway stays closed:")
            print("\n".join(wrong), flush=True)
            return 1
        print(f"{count} of {count} answers are right: the gateway is open", flush=True)
    opened.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
