"""Keep a review as the one comment on a pull request; where that is not possible, write it into the job's summary.

`comment.py FILE KEY`: the Markdown of the review, and what tells this comment from those of other jobs. The rest is in
the variables of GitHub Actions, and in `TOKEN`. Nothing but Python is needed. The exit status is 0 unless there is no
such file: whether a change is good is not decided here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

_QUIET = ("## ✅ No flow has changed, no new errors\n", "## ✅ No change is seen, ")
"""How a review begins that nobody needs, unless it corrects one that was posted before."""
_PAGE, _PAGES = 100, 100
_PATIENCE, _ATTEMPTS, _WAIT = 30.0, 3, 1.0
"""Seconds for an answer, how often something is asked that failed on the other side, and seconds between."""


class RefusedError(Exception):
    """GitHub does not do what it was asked for."""

    def __init__(self, told: str, status: int = 0) -> None:
        super().__init__(told)
        self.status = status


class PullRequest:
    """The comments on one pull request, as somebody with a token sees them."""

    def __init__(self, number: int, token: str) -> None:
        self._comments = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues/{number}/comments"
        self._one = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues/comments"
        self._api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
        self._graphql = os.environ.get("GITHUB_GRAPHQL_URL", "https://api.github.com/graphql")
        self._token = token

    def post(self, body: str, mark: str, *, is_quiet: bool) -> str:
        """Write or change the comment of a mark, and say what was done."""
        own = next((each for each in self._list() if self._is_own(each, mark)), None)
        if own is not None and own["body"].replace("\r\n", "\n").strip() == body.strip():
            return "the comment is as it was"
        if own is not None and self._change(own["id"], body):
            return "the comment is up to date"
        if is_quiet:
            return "there is nothing to comment on"
        self._ask("POST", self._api + self._comments, {"body": body})
        return "the comment is written"

    def _change(self, number: int, body: str) -> bool:
        """Change a comment; tell whether it was still there."""
        try:
            self._ask("PATCH", f"{self._api}{self._one}/{number}", {"body": body})
        except RefusedError as refused:
            if refused.status != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True

    def _list(self) -> Iterator[dict[str, Any]]:
        for page in range(1, _PAGES + 1):
            found = self._ask("GET", f"{self._api}{self._comments}?per_page={_PAGE}&page={page}")
            yield from found
            if len(found) < _PAGE:
                return

    def _is_own(self, comment: dict[str, Any], mark: str) -> bool:
        """Tell whether a comment has the mark and is by whom the token is of: anybody can copy a mark."""
        user = comment.get("user") or {}
        if not (comment.get("body") or "").startswith(mark):
            return False
        own = self._find_viewer()
        return user.get("login") == own or (user.get("type") == "Bot" and user.get("login") == f"{own}[bot]")

    def _find_viewer(self) -> str:
        told = self._ask("POST", self._graphql, {"query": "query { viewer { login } }"})
        try:
            return str(told["data"]["viewer"]["login"])
        except (KeyError, TypeError) as error:
            raise RefusedError("GitHub does not say whose token this is") from error

    def _ask(self, method: str, address: str, given: object = None) -> Any:
        data = None if given is None else json.dumps(given).encode()
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "User-Agent": "stagec",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with urlopen(Request(address, data, headers, method=method), timeout=_PATIENCE) as answer:
                    return json.load(answer)
            except HTTPError as error:
                told = f"{method} {address.partition('?')[0]}: HTTP {error.code}"
                if error.code < HTTPStatus.INTERNAL_SERVER_ERROR or attempt == _ATTEMPTS:
                    raise RefusedError(told, error.code) from error
            except (OSError, HTTPException, ValueError) as error:
                if attempt == _ATTEMPTS:
                    raise RefusedError(f"{method} {address.partition('?')[0]}: {error}") from error
            time.sleep(_WAIT * attempt)
        raise AssertionError


def main(file: str, key: str) -> None:
    """Keep the comment, or write the summary and say why."""
    review = Path(file).read_text(encoding="utf-8")
    mark = f"<!-- stagec review {''.join(each for each in key if each.isalnum() or each in '-._')} -->"
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    number, token = (event.get("pull_request") or {}).get("number"), os.environ.get("TOKEN", "")
    if not number or not token:
        why = "the job has no token" if number else "there is no pull request"
        _write_summary(review, RefusedError(why, HTTPStatus.OK))
        return
    try:
        done = PullRequest(number, token).post(f"{mark}\n{review}", mark, is_quiet=review.startswith(_QUIET))
    except RefusedError as refused:
        _write_summary(review, refused)
    else:
        print(f"stagec: {done}")


def _write_summary(review: str, refused: RefusedError) -> None:
    is_forbidden = refused.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND}
    why = f"{refused}{'; the job needs the permission pull-requests: write' if is_forbidden else ''}"
    level = "notice" if is_forbidden or refused.status == HTTPStatus.OK else "warning"
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as summary:
        summary.write(f"\n{review}\n")
    told = why.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{level} title=stagec::the review is in the summary of the job, and no comment: {told}")


if __name__ == "__main__":
    main(*sys.argv[1:])
