"""The comment of the GitHub action: written once, changed afterwards, never of others; or else in the summary."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import programs
import pytest
from cli.test_diff import edit, git
from services import ACTION, Job, Runner, put_example, runner

__all__ = ["runner"]
SCRIPT = ACTION.parent / "comment.py"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
MARK = "<!-- stagec review stagec -->"


class GitHub:
    """The part of GitHub that has comments of one pull request; `fails` are the answers that it gives instead."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []
        self.fails: dict[str, list[int]] = {}
        self.viewer = "github-actions[bot]"
        github = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                method, path = str(self.command), self.path
                github.asked.append((method, path.partition("?")[0]))
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                assert self.headers["Authorization"] == "Bearer secret"
                status, told = github.judge(method, path, json.loads(body) if body else None)
                data = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def judge(self, method: str, path: str, given: Any) -> tuple[int, Any]:
        kind = "viewer" if path == "/graphql" else method
        if self.fails.get(kind):
            return self.fails[kind].pop(0), {"message": "no"}
        if kind == "viewer":
            return 200, {"data": {"viewer": {"login": self.viewer}}}
        if method == "GET":
            page = int(path.rpartition("=")[2])
            return 200, self.comments[(page - 1) * 100 : page * 100]
        if method == "POST":
            self.comments.append({"id": len(self.comments), "user": BOT, "body": given["body"]})
            return 201, self.comments[-1]
        self.comments[int(path.rpartition("/")[2])]["body"] = given["body"]
        return 200, {}

    def add(self, body: str, user: dict[str, str] = BOT, times: int = 1) -> None:
        for _ in range(times):
            self.comments.append({"id": len(self.comments), "user": user, "body": body})

    def around(self, folder: Path, event: object = None) -> dict[str, str]:
        path = folder / "event.json"
        path.write_text(json.dumps({"pull_request": {"number": 7}} if event is None else event))
        return {
            "GITHUB_API_URL": self.address,
            "GITHUB_GRAPHQL_URL": f"{self.address}/graphql",
            "GITHUB_REPOSITORY": "owner/name",
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "TOKEN": "secret",
        }

    @property
    def changed(self) -> list[str]:
        """What was asked for that changes something."""
        return [f"{method} {path}" for method, path in self.asked if method != "GET" and path != "/graphql"]


@pytest.fixture
def github() -> Iterator[GitHub]:
    made = GitHub()
    yield made
    made.server.shutdown()
    made.server.server_close()


def comment(github: GitHub, folder: Path, review: str = "## ❌ One\n", key: str = "stagec", **given: Any) -> str:
    file = folder / "review.md"
    file.write_text(review, encoding="utf-8")
    around = {"PATH": os.environ["PATH"], **github.around(folder, given.pop("event", None)), **given}
    command = [sys.executable, "-I", str(SCRIPT), str(file), key]
    ended = subprocess.run(command, env=around, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def summary(folder: Path) -> str:
    path = folder / "summary.md"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_the_first_review_is_a_comment_and_the_next_one_changes_it(github: GitHub, tmp_path: Path) -> None:
    assert comment(github, tmp_path) == "stagec: the comment is written\n"
    assert [each["body"] for each in github.comments] == [f"{MARK}\n## ❌ One\n"]
    assert comment(github, tmp_path, "## ✅ Two\n") == "stagec: the comment is up to date\n"
    assert [each["body"] for each in github.comments] == [f"{MARK}\n## ✅ Two\n"]
    assert github.changed == ["POST /repos/owner/name/issues/7/comments", "PATCH /repos/owner/name/issues/comments/0"]
    assert summary(tmp_path) == ""


def test_the_same_review_changes_nothing(github: GitHub, tmp_path: Path) -> None:
    github.add(f"{MARK}\r\n## ❌ One")
    assert comment(github, tmp_path) == "stagec: the comment is as it was\n"
    assert github.changed == []


def test_the_comment_is_found_on_a_later_page(github: GitHub, tmp_path: Path) -> None:
    github.add("hello", {"login": "octocat", "type": "User"}, times=250)
    github.add(f"{MARK}\nold")
    assert comment(github, tmp_path) == "stagec: the comment is up to date\n"
    assert github.comments[250]["body"] == f"{MARK}\n## ❌ One\n"
    assert len([each for each in github.asked if each[0] == "GET"]) == 3
    github.comments[250:] = []
    github.add("more", {"login": "octocat", "type": "User"}, times=50)
    assert comment(github, tmp_path) == "stagec: the comment is written\n"  # a last page that is full, and an empty one


@pytest.mark.parametrize(
    "user",
    [
        {"login": "mallory", "type": "User"},
        {"login": "github-actions", "type": "User"},
        {"login": "other[bot]", "type": "Bot"},
    ],
)
def test_a_comment_of_somebody_else_with_the_same_mark_is_left_alone(
    user: dict[str, str], github: GitHub, tmp_path: Path
) -> None:
    github.add(f"{MARK}\nforged", user)
    assert comment(github, tmp_path) == "stagec: the comment is written\n"
    assert [each["body"].splitlines()[1] for each in github.comments] == ["forged", "## ❌ One"]


def test_a_mark_that_is_quoted_is_no_mark(github: GitHub, tmp_path: Path) -> None:
    github.add(f"I said:\n{MARK}")
    github.comments.append({"id": 1, "user": None, "body": None})
    assert comment(github, tmp_path) == "stagec: the comment is written\n"


def test_jobs_with_other_keys_have_other_comments(github: GitHub, tmp_path: Path) -> None:
    comment(github, tmp_path, key="one")
    comment(github, tmp_path, key="two --> @all")
    comment(github, tmp_path, "## ❌ Three\n", key="one")
    assert [each["body"].splitlines() for each in github.comments] == [
        ["<!-- stagec review one -->", "## ❌ Three"],
        ["<!-- stagec review two--all -->", "## ❌ One"],
    ]


def test_a_review_that_nobody_needs_is_not_posted_but_corrects_an_older_one(github: GitHub, tmp_path: Path) -> None:
    nothing = "## ✅ No flow has changed, no new errors\n\nCompared with `main`.\n"
    assert comment(github, tmp_path, nothing) == "stagec: there is nothing to comment on\n"
    assert github.comments == []
    comment(github, tmp_path)
    assert comment(github, tmp_path, nothing) == "stagec: the comment is up to date\n"


def test_new_warnings_alone_are_worth_a_comment(github: GitHub, tmp_path: Path) -> None:
    warned = "## ⚠️ No flow has changed, no new errors, 1 new warning\n"
    assert comment(github, tmp_path, warned) == "stagec: the comment is written\n"


def test_a_comment_that_was_deleted_meanwhile_is_written_again(github: GitHub, tmp_path: Path) -> None:
    github.add(f"{MARK}\nold")
    github.fails["PATCH"] = [404]
    assert comment(github, tmp_path) == "stagec: the comment is written\n"


@pytest.mark.parametrize(
    ("fails", "level"),
    [
        ({"GET": [403]}, "notice"),
        ({"POST": [403]}, "notice"),
        ({"GET": [401]}, "notice"),
        ({"GET": [404]}, "notice"),
        ({"POST": [422]}, "warning"),
        ({"GET": [500, 502, 503]}, "warning"),
    ],
)
def test_what_cannot_be_posted_is_in_the_summary(
    fails: dict[str, list[int]], level: str, github: GitHub, tmp_path: Path
) -> None:
    github.fails = fails
    told = comment(github, tmp_path)
    assert told.startswith(f"::{level} title=stagec::the review is in the summary of the job, and no comment: ")
    assert ("pull-requests: write" in told) == (level == "notice")
    assert "secret" not in told
    assert summary(tmp_path) == "\n## ❌ One\n\n"
    assert github.comments == []


def test_what_fails_for_a_moment_is_asked_again(github: GitHub, tmp_path: Path) -> None:
    github.fails = {"GET": [502], "POST": [500]}
    assert comment(github, tmp_path) == "stagec: the comment is written\n"


def test_a_viewer_that_is_not_told_leaves_comments_alone(github: GitHub, tmp_path: Path) -> None:
    github.add(f"{MARK}\nold")
    github.fails = {"viewer": [200]}
    assert "GitHub does not say whose token this is" in comment(github, tmp_path)
    assert github.changed == []


@pytest.mark.parametrize(("given", "why"), [({"TOKEN": ""}, "no token"), ({"event": {}}, "there is no pull request")])
def test_without_a_token_or_a_pull_request_there_is_the_summary(
    given: dict[str, Any], why: str, github: GitHub, tmp_path: Path
) -> None:
    told = comment(github, tmp_path, **given)
    assert told.startswith("::notice ")
    assert why in told
    assert github.asked == []
    assert summary(tmp_path) == "\n## ❌ One\n\n"


def test_nobody_answers(tmp_path: Path, github: GitHub) -> None:
    told = comment(github, tmp_path, GITHUB_API_URL="http://127.0.0.1:9")
    assert told.startswith("::warning ")
    assert "\n" not in told.rstrip("\n")


# The whole action, on a pull request in a repository with a remote


@pytest.fixture
@programs.starts("git")
def pull_request(runner: Runner, tmp_path: Path) -> tuple[str, str]:
    """Make what GitHub checks out: a clone without history, of the branch merged into main, which went on meanwhile.

    Return the commit from which the branch went off, and the head of the branch.
    """
    source, bare = tmp_path / "source", tmp_path / "bare.git"
    source.mkdir()
    put_example(source, "docs-repair", "docs")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(source, "init", "-q", "-b", "main", ".")
    commit(source)
    git(source, "checkout", "-q", "-b", "change")
    edit(source / "docs" / "pipeline.yaml", "maxStageExecutions: 8", "maxStageExecutions: 4")
    commit(source)
    git(source, "checkout", "-q", "main")
    edit(source / "docs" / "write.md", "turnCap: 20", "turnCap: 5")
    commit(source)
    git(source, "checkout", "-q", "-b", "merged")
    git(source, "merge", "-q", "--no-edit", "change")
    git(source, "push", "-q", str(bare), "main", "change", "merged")
    shutil.rmtree(runner.work)
    git(tmp_path, "clone", "-q", "--depth=1", "-b", "merged", f"file://{bare}", str(runner.work))
    return read_commit(source, "change~1"), read_commit(source, "change")


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")


def read_commit(folder: Path, name: str) -> str:
    return subprocess.run(
        ["git", "rev-parse", name], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_pull_request_gets_one_comment_about_what_it_changes(
    runner: Runner, pull_request: tuple[str, str], github: GitHub, tmp_path: Path
) -> None:
    event = {"BASE": pull_request[0], **github.around(tmp_path)}
    for _ in range(2):
        job = Job(runner, {"paths": "docs"}, event)
        assert (job.status, job.reviewed["status"]) == (0, "1")
    (only,) = github.comments
    assert only["body"].startswith(f"{MARK}\n## ❌ 1 change breaks runs in flight\n")
    assert "CHG110" in only["body"]
    assert "CHG126" not in only["body"]  # what main has changed meanwhile is not in the pull request
    assert "```mermaid\n" in only["body"]
    assert Path(job.reviewed["review"]).is_file()
    job = Job(runner, {"fail-on-breaking": "true"}, event)
    assert (job.status, job.outputs["status"]) == (1, "0")


def test_a_branch_that_is_checked_out_itself_is_compared_with_where_it_went_off(
    runner: Runner, pull_request: tuple[str, str], github: GitHub, tmp_path: Path
) -> None:
    git(runner.work, "fetch", "-q", "--depth=1", "origin", "change")
    git(runner.work, "checkout", "-q", pull_request[1])
    git(runner.work, "fetch", "-q", "--depth=1", "origin", "main")
    base = read_commit(runner.work, "FETCH_HEAD")
    job = Job(runner, {}, {"BASE": base, **github.around(tmp_path)})
    assert (job.status, job.reviewed["status"]) == (0, "1")
    assert f"Compared with `{pull_request[0][:16]}`." in github.comments[0]["body"]
    assert "CHG126" not in github.comments[0]["body"]


def test_a_fork_without_rights_gets_the_summary(
    runner: Runner, pull_request: tuple[str, str], github: GitHub, tmp_path: Path
) -> None:
    github.fails = {"GET": [403]}
    event = {"BASE": pull_request[0], **github.around(tmp_path)}
    del event["GITHUB_STEP_SUMMARY"]
    job = Job(runner, {}, event)
    assert job.status == 0
    assert "## ❌ 1 change breaks runs in flight" in job.summary
    assert github.comments == []


@pytest.mark.parametrize(
    ("inputs", "status"),
    [({"review": "false"}, None), ({"review-against": "$(touch pwned)"}, "2"), ({"review-against": "no-such"}, "2")],
)
def test_inputs_of_the_review_choose_and_are_never_executed(
    inputs: dict[str, str],
    status: str | None,
    runner: Runner,
    pull_request: tuple[str, str],
    github: GitHub,
    tmp_path: Path,
) -> None:
    job = Job(runner, inputs, {"BASE": pull_request[0], **github.around(tmp_path)})
    assert (job.status, job.reviewed.get("status")) == (0, status)
    assert github.comments == []
    assert not (runner.work / "pwned").exists()


def test_a_project_with_errors_is_reviewed_and_fails_the_job(
    runner: Runner, pull_request: tuple[str, str], github: GitHub, tmp_path: Path
) -> None:
    edit(runner.work / "docs" / "check.md", "allowedTools: [", "allowedTools: [no_such_tool, ")
    job = Job(runner, {}, {"BASE": pull_request[0], **github.around(tmp_path)})
    assert job.status == 1
    assert github.comments[0]["body"].splitlines()[1] == "## ❌ 1 new error"
