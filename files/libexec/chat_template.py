"""Writes a checkpoint's chat template with another default for thinking; run before the server.

Usage: chat_template.py MODEL_FOLDER on|off TARGET. A request that says enable_thinking or
reasoning_effort itself is obeyed either way.
"""

import json
import sys
from pathlib import Path

# The checkpoint's own default effort is max, which spends a small budget before the answer.
DEFAULTS = {
    "on": ("reasoning_effort", '"high"'),
    "off": ("enable_thinking", "false"),
}


def own_template(folder: Path) -> str:
    """The checkpoint's template; raises OSError or ValueError where it has none."""
    file = folder / "chat_template.jinja"
    if file.exists():
        return file.read_text(encoding="utf-8")
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    template = config.get("chat_template")
    if not isinstance(template, str):
        raise ValueError("tokenizer_config.json holds no chat_template")
    return template


def with_default(template: str, thinking: str) -> str:
    """The template behind one line that sets the default; raises ValueError where it reads none."""
    if "enable_thinking" not in template:
        raise ValueError("the template reads no enable_thinking: vllm_thinking has no effect")
    name, value = DEFAULTS[thinking]
    return f"{{% set {name} = {name} if {name} is defined else {value} %}}{template}"


def main(folder: str, thinking: str, target: str) -> int:
    try:
        text = with_default(own_template(Path(folder)), thinking)
    except (OSError, ValueError) as error:
        print(f"chat template of {folder}: {error}; remove vllm_thinking", file=sys.stderr)
        return 1
    new = Path(f"{target}.new")
    new.write_text(text, encoding="utf-8")
    new.chmod(0o644)
    new.rename(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
