"""An image that comes as a tar, for tests of plans and of settings."""

from typing import Any

TAR: dict[str, Any] = {
    "image_source": "archive",
    "image_archive": "images/a.tar",
    "image_archive_sha256": "1" * 64,
    "image_digest": "sha256:" + "2" * 64,
    "patches_tags": [],
    "overlay_name": None,
}
