"""Who is let in: hosts, origins, tokens and bodies, one wrong thing at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from serve.asking import HOST, ORIGIN, OWN, TOKEN, App, ask, post, serve_folder

from stagec.runtime.serve import server

OPEN = ["/", "/login", "/static/app.js", "/static/page.css", "/static/drawing.css"]
CLOSED = ["/api/state", "/api/stream", "/api/runs/a", "/api/runs/a/picture", "/api/nothing"]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def app(tmp_path: Path, said: list[str]) -> Iterator[App]:
    made, watch = serve_folder(tmp_path, said)
    yield made
    watch.close()


def lacking(*names: str, **more: str) -> dict[str, str]:
    return {name: told for name, told in {**OWN, **more}.items() if name not in names}


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1.evil.example:8642", "evil.example:8642", "", "[::1]:8642"],
)
@pytest.mark.parametrize("path", ["/", "/api/state", "/static/app.js", "/api/login"])
def test_another_host_is_refused_so_that_no_name_can_be_bound_to_this_machine(app: App, host: str, path: str) -> None:
    assert ask(app, path, headers={**OWN, "host": host}).status == 403


def test_a_request_without_a_host_is_refused(app: App) -> None:
    assert ask(app, "/", headers=lacking("host")).status == 403


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "https://127.0.0.1:8642", "http://127.0.0.1:8643", "null", "http://127.0.0.1:8642.evil"],
)
@pytest.mark.parametrize("path", ["/api/login", "/api/runs/a/pause", "/api/runs"])
def test_another_origin_is_refused(app: App, origin: str, path: str) -> None:
    assert post(app, path, {"token": TOKEN}, origin=origin).status == 403
    assert ask(app, "/api/state", headers={**OWN, "origin": origin}).status == 403


def test_a_change_must_say_where_it_comes_from(app: App) -> None:
    refused = ask(app, "/api/runs/a/pause", b"{}", lacking("origin"))
    assert (refused.status, refused.json) == (403, {"error": "the request does not say which page it comes from"})


def test_a_program_with_the_token_needs_no_origin(app: App) -> None:
    program = lacking("origin", "cookie", authorization=f"Bearer {TOKEN}")
    assert ask(app, "/api/runs/a/pause", b"{}", program).status == 404


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_browser_that_says_that_another_page_asks_is_believed(app: App, site: str) -> None:
    assert ask(app, "/api/state", headers={**OWN, "sec-fetch-site": site}).status == 403
    assert ask(app, "/", headers={"host": HOST, "sec-fetch-site": site}).status == 200, "a link may lead here"


@pytest.mark.parametrize("path", OPEN)
def test_the_page_itself_holds_nothing_and_is_open(app: App, path: str) -> None:
    assert ask(app, path, headers={"host": HOST}).status == 200


@pytest.mark.parametrize("path", CLOSED)
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"cookie": "stagec=wrong"},
        {"cookie": f"stagec={TOKEN}"},
        {"authorization": "Bearer wrong"},
        {"authorization": "Basic eA=="},
    ],
    ids=["nothing", "wrong cookie", "token as cookie", "wrong token", "basic"],
)
def test_everything_about_runs_needs_the_token(app: App, path: str, given: dict[str, str]) -> None:
    answer = ask(app, path, headers={"host": HOST, **given})
    assert answer.status == 401
    assert "token" in answer.json["error"]
    assert "set-cookie" not in answer.headers


def test_a_token_gets_a_cookie_that_scripts_and_other_sites_cannot_use(app: App) -> None:
    answer = post(app, "/api/login", {"token": TOKEN}, cookie="")
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert ask(app, "/api/state", headers={"host": HOST, "cookie": cookie.partition(";")[0]}).status == 200


@pytest.mark.parametrize("given", [{}, {"token": ""}, {"token": None}, {"token": ["x"]}, [], "x", {"token": "\ud800"}])
def test_what_is_no_token_opens_nothing(app: App, given: object) -> None:
    assert post(app, "/api/login", given).status == 401


def test_ten_wrong_tokens_close_the_door_also_to_the_right_one(
    app: App, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(server.time, "monotonic", lambda: now[0])
    for _ in range(10):
        assert post(app, "/api/login", {"token": "wrong"}).status == 401
    closed = post(app, "/api/login", {"token": TOKEN})
    assert (closed.status, closed.headers["retry-after"]) == (429, "60")
    assert ask(app, "/api/state", headers={"host": HOST, "authorization": f"Bearer {TOKEN}"}).status == 429
    assert ask(app, "/api/state").status == 200, "who is inside stays there"
    now[0] += 61
    assert post(app, "/api/login", {"token": TOKEN}).status == 200
    assert said == ["a wrong token was given"] * 10


@pytest.mark.parametrize(
    "told", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data; a=application/json"]
)
def test_a_form_of_another_page_changes_nothing(app: App, told: str) -> None:
    assert post(app, "/api/runs/a/pause", {}, **{"content-type": told}).status == 415


@pytest.mark.parametrize("length", ["1000001", "-1", "x", "1e9"])
def test_a_body_that_is_too_large_is_not_read(app: App, length: str) -> None:
    assert post(app, "/api/runs/a/pause", {}, **{"content-length": length}).status == 413


def test_a_body_that_becomes_too_large_is_given_up(app: App) -> None:
    assert ask(app, "/api/login", b"x" * 1_000_001, pieces=5).status == 413


@pytest.mark.parametrize("path", [*OPEN, *CLOSED])
def test_every_answer_tells_browsers_what_they_may_do(app: App, path: str) -> None:
    if path == "/api/stream":
        path = "/api/state"
    headers = ask(app, path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_change_nothing(app: App, method: str) -> None:
    assert ask(app, "/", b"{}", OWN, method=method).status == 405
    assert ask(app, "/api/state", b"{}", OWN, method=method).status == 405


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e/server.py", "/static/app.py", "/static/", "/etc/passwd"]
)
def test_nothing_else_on_the_disk_is_served(app: App, path: str) -> None:
    assert ask(app, path).status == 404


def test_the_page_names_no_other_host(app: App) -> None:
    for path in OPEN:
        body = ask(app, path).body.replace(b"http://www.w3.org/2000/svg", b"")
        assert b"//" not in body.replace(b"// ", b"") or path.endswith(".js")
        assert b"http:" not in body
        assert b"https:" not in body


def test_the_origin_of_the_page_is_its_own() -> None:
    assert f"http://{HOST}" == ORIGIN
