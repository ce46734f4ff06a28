"""docs/settings.md says what the models say."""

from glmstead.settings.model import KEYS
from glmstead.settings.reference import PAGE, reference


def test_the_reference_is_up_to_date() -> None:
    assert PAGE.read_text() == reference(), "run scripts/settings-reference"


def test_every_key_is_in_the_reference() -> None:
    page = PAGE.read_text()

    assert [key for key in KEYS if f"| `{key}` |" not in page] == []
