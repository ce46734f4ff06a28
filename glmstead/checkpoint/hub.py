"""The hub's own client as a process: it lists a repository, and fetches files into given parts.

The only module that needs huggingface_hub, so it runs under the engine's Python. The first line of
standard input is the request; ``list`` answers with one listing. ``get`` reads one file a line and
answers one line each; it ends at once with its standard input, so never outlives who started it.

The client downloads into a name of its own making each time, so after a kill it starts a shard of
5 GB again (huggingface/huggingface_hub#4228). Its download functions take a part, which we name.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from glmstead.checkpoint.listing import Entry, xet_part

_PRINT = threading.Lock()


def main(words: list[str]) -> int:
    """Answer one request."""
    request = json.loads(sys.stdin.readline())
    try:
        if words == ["list"]:
            _say({"files": {name: asdict(entry) for name, entry in _tree(request).items()}})
        else:
            _serve(request)
    except Exception as error:  # whatever the client raises is one line for people
        _say({"error": _line(error)})
        return 1
    return 0


def _tree(request: dict[str, Any]) -> dict[str, Entry]:
    from huggingface_hub.hf_api import HfApi, RepoFile

    api = HfApi(endpoint=request["endpoint"], token=_token(request))
    tree = api.list_repo_tree(request["repo"], recursive=True, revision=request["revision"])
    found = {}
    for file in tree:
        if isinstance(file, RepoFile):
            large = file.lfs
            found[file.path] = (
                Entry(large.size, sha256=large.sha256)
                if large
                else Entry(file.size, git=file.blob_id)
            )
    return found


def _serve(request: dict[str, Any]) -> None:
    import huggingface_hub.file_download  # takes a second or more, which is no stall

    _say({"ready": huggingface_hub.__version__})
    with ThreadPoolExecutor(max_workers=request["workers"]) as pool:
        for line in sys.stdin:
            pool.submit(_answer, request, json.loads(line))
        os._exit(0)  # whoever asked is gone: what runs is of no use


def _answer(request: dict[str, Any], file: dict[str, Any]) -> None:
    try:
        _get(request, file)
        _say({"name": file["name"]})
    except Exception as error:  # one file's failure is told, the others go on
        _say({"name": file["name"], "error": _line(error)})


def _get(request: dict[str, Any], file: dict[str, Any]) -> None:
    from huggingface_hub import file_download, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils import build_hf_headers

    endpoint, token = request["endpoint"], _token(request)
    url = hf_hub_url(request["repo"], file["name"], revision=request["revision"], endpoint=endpoint)
    metadata = get_hf_file_metadata(url, token=token, endpoint=endpoint, retry_on_errors=True)
    if metadata.etag != file["key"]:
        raise OSError(f"the hub has other content under this revision, {metadata.etag}")
    headers, size, part = build_hf_headers(token=token), int(file["size"]), Path(file["part"])
    xet = metadata.xet_file_data
    if xet is not None and os.environ["HF_HUB_DISABLE_XET"] == "0":
        file_download.xet_get(
            incomplete_path=xet_part(part),
            xet_file_data=xet,
            headers=headers,
            expected_size=size,
        )
        xet_part(part).replace(part)
        return
    source = url if xet is not None else metadata.location
    if urlsplit(source).netloc != urlsplit(url).netloc:
        headers.pop("authorization", None)  # a signed address of a storage host
    with part.open("r+b" if part.exists() else "w+b") as stream:
        have = stream.seek(0, os.SEEK_END)
        if have > size:
            have = stream.seek(0)
            stream.truncate()
        file_download.http_get(
            source, stream, resume_size=have, headers=headers, expected_size=size
        )


def _token(request: dict[str, Any]) -> str | bool:
    path = Path(request["token_file"])
    return path.read_text().strip() if path.exists() else False


def _line(error: Exception) -> str:
    text = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {text}"


def _say(document: dict[str, Any]) -> None:
    with _PRINT:
        print(json.dumps(document), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
