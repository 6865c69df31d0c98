"""What is taken for a secret, and texts from which secrets are taken out."""

from __future__ import annotations

import json

import pytest
from patience import ends

from stagec.core.secrets import REDACTED, Redactor, has_secret, is_secret_name

SHAPES = [
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2_" * 9,
    "glpat-" + "a1B2" * 5,
    "sk-proj-" + "a1B2" * 9,
    "sk_live_" + "a1B2" * 6,
    "AKIA" + "A1B2" * 4,
    "xoxb-" + "1234-" * 4 + "abcd",
    "npm_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\nMIIE",
]


@pytest.mark.parametrize("name", ["TOKEN", "GITHUB_TOKEN", "db-password", "apiKey", "API_KEY", "AWS_SECRET_ACCESS_KEY",
                                  "X-Api-Key", "Authorization", "--token", "PGPASSWORD", "CLIENT_SECRET", "TOKEN_1",
                                  "NPM_AUTH", "AWS_ACCESS_KEY_ID", "SENTRY_DSN", "accessToken", "GH_PAT"])  # fmt: skip
def test_a_name_tells_that_something_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", ["PATH", "HOME", "KEY", "MONKEY", "KEYBOARD", "PWD", "OLDPWD", "MAX_TOKENS_COUNT",
                                  "--token-file", "SSH_AUTH_SOCK", "PASSWORD_FILE", "TOKENIZER", "AUTHOR",
                                  "COMPASS"])  # fmt: skip
def test_other_names_tell_nothing(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize("secret", SHAPES)
def test_a_shape_is_taken_out_wherever_it_stands(secret: str) -> None:
    assert has_secret(f"x={secret}\nmore")
    assert Redactor().redact(f'before "{secret}"') in {f'before "{REDACTED}"', f'before "{REDACTED}'}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcdefghijklmnop1234", f"Authorization: Bearer {REDACTED}"),
        ("postgres://me:hunter2@db/x", f"postgres://me:{REDACTED}@db/x"),
        ("https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("Bearer of news", "Bearer of news"),
        ("sk-short and ghp_short and eyJ.a.b", "sk-short and ghp_short and eyJ.a.b"),
        ("task-force-of-twenty-people-or-more", "task-force-of-twenty-people-or-more"),
    ],
)
def test_what_stands_around_a_secret_stays(text: str, shown: str) -> None:
    assert Redactor().redact(text) == shown


def test_values_are_taken_out_by_the_names_of_their_variables() -> None:
    redactor = Redactor(
        {"DB_PASSWORD": "correct horse", "PATH": "/usr/bin:/bin", "PIN_TOKEN": "1234"}, {"API_KEY": "x" * 8}
    )
    assert redactor.redact("correct horse /usr/bin:/bin 1234 xxxxxxxx") == f"{REDACTED} /usr/bin:/bin 1234 {REDACTED}"


def test_of_values_inside_each_other_the_longest_is_taken_out() -> None:
    assert Redactor({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghij"}).redact("abcdefghij") == REDACTED


def test_a_value_of_several_lines_is_taken_out_line_by_line() -> None:
    assert Redactor({"A_SECRET": "first line\nsecond line"}).redact("  first line\n  second line") == (
        f"  {REDACTED}\n  {REDACTED}"
    )


@pytest.mark.parametrize(
    "part",
    ["eyJaaaaaaaa.", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "a://b:", "Bearer ", "ghp_a", "eyJ", "a:", "sk-"],
)
def test_no_text_takes_for_ever(part: str) -> None:
    with ends():
        Redactor({"A_TOKEN": "a" * 8}).redact(part * (1_000_000 // len(part)))


@pytest.mark.parametrize(
    "before", ["", " ", "\n", "\\n", "\\t", "\x1b[32m", "\x1b[1;31m", "\x1b[m", '"', "TOKEN_", "="]
)
@pytest.mark.parametrize(
    "secret", ["ghp_" + "a1" * 18, "sk-" + "a1" * 18, "AKIA" + "A1" * 8, "eyJhbGciOiJI.eyJzdWIi.c2ln"]
)
def test_a_secret_is_found_behind_what_programs_print_before_it(before: str, secret: str) -> None:
    assert Redactor({}).redact(f"{before}{secret}\x1b[0m") == f"{before}{REDACTED}\x1b[0m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("DB_PASSWORD=hunter2\nX=1", "DB_PASSWORD={}\nX=1"),
        ("export API_KEY=p@ss(word)$1", "export API_KEY={}"),
        ('"password": "hunter2"', '"password": "{}"'),
        ('\\"password\\": \\"hunter2\\"', '\\"password\\": \\"{}\\"'),
        ("{'x-api-key': 'abcdef'}", "{{'x-api-key': '{}'}}"),
        ("line\\nPASSWORD=hunter\\nline", "line\\nPASSWORD={}\\nline"),
        ("x-api-key: abcdef", "x-api-key: {}"),
        ("password: hunter2", "password: {}"),
        ("curl --token=abcdef", "curl --token={}"),
        ("GET https://a.example/v1?api_key=abcdef&page=2", "GET https://a.example/v1?api_key={}&page=2"),
        ("Authorization: Bearer abcdef", "Authorization: {}"),
        ("Authorization: abcdef\r\nHost: a", "Authorization: {}\r\nHost: a"),
        ("'authorization': 'Basic YTpi'", "'authorization': '{}'"),
        ("Set-Cookie: sid=abc; Path=/", "Set-Cookie: {}"),
    ],
)
def test_in_outputs_a_name_tells_a_secret(text: str, shown: str) -> None:
    assert Redactor().redact_output(text) == shown.format(REDACTED)
    assert Redactor().redact(text) == text
    assert Redactor().redact_output(shown.format(REDACTED)) == shown.format(REDACTED)


@pytest.mark.parametrize(
    "text",
    [
        "def parse(token: str) -> None:",
        "token = lexer.next_token",
        'api_key = os.environ["API_KEY"]',
        "password = get_password1(x)",
        "GITHUB_TOKEN=${TOKEN} GITHUB_TOKEN=$TOKEN",
        "Authorization: required for all requests",
        "Cookie: a small piece of data",
        "TOKEN_TYPE=bearer_of_news",
        "max_tokens: 100000, MAX_TOKENS=100000",
        "password = read_pass1word(x)",
        "PIN_TOKEN=1234",
        "http://a.example/?page=abcdef",
    ],
)
def test_in_outputs_what_programs_and_pages_say_stays(text: str) -> None:
    assert Redactor().redact_output(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "correct horse",
        "correct%20horse",
        'a "correct horse"',
        json.dumps({"a": json.dumps(["correct horse"])}),
    ],
)
def test_a_value_is_found_as_addresses_and_json_write_it(text: str) -> None:
    secret = Redactor({"A_PASSWORD": "correct horse", "B_PASSWORD": 'so "it\\is'})
    assert "horse" not in secret.redact(text)
    assert "it" not in secret.redact(json.dumps('so "it\\is') + repr('so "it\\is'))


@pytest.mark.parametrize(
    "environment",
    [
        {"DATABASE_URL": "postgres://me:correcthorse@db/x"},
        {"MCP_AUTHORIZATION": "Bearer correcthorse"},
        {"STAGEC_HEADER_SERVER_X_TEAM": "correcthorse"},
        {"OTEL_EXPORTER_OTLP_HEADERS": "a=b,x-team=correcthorse"},
        {"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20correcthorse"},
        {"DEPLOY_KEY": "correcthorse"},
    ],
    ids=str,
)
def test_a_secret_is_found_in_a_part_of_a_value(environment: dict[str, str]) -> None:
    assert Redactor(environment).redact("the correcthorse ran") == f"the {REDACTED} ran"


def test_headers_that_everybody_sends_are_no_secrets() -> None:
    assert Redactor({"STAGEC_HEADER_S_CONTENT_TYPE": "application/json"}).redact("application/json") == (
        "application/json"
    )


def test_json_stays_json_and_every_text_of_it_is_redacted() -> None:
    redactor = Redactor({"A_PASSWORD": 'so "it\\is'})
    given = {'so "it\\is': ["x", {"password": "opaque1", "deep": ['so "it\\is']}, 1.5, None, True, "\ud800 ü"], "": {}}
    told = json.loads(redactor.redact_json(json.dumps(given), is_output=True))
    assert told == {REDACTED: ["x", {"password": REDACTED, "deep": [REDACTED]}, 1.5, None, True, "\ud800 ü"], "": {}}
    assert json.loads(redactor.redact_json(json.dumps({"password": "opaque1"}))) == {"password": "opaque1"}


def test_json_of_any_depth_is_redacted() -> None:
    deep = "[" * 100_000 + '"sk-' + "a1" * 18 + '\\n"' + "]" * 100_000
    assert Redactor().redact_json(deep) == "[" * 100_000 + f'"{REDACTED}\\n"' + "]" * 100_000


@pytest.mark.parametrize(
    "part",
    ["token:", "password: '", "authorization: ", "cookie: a=", "-", "?a=", 'TOKEN=\\"', "a-", '\\"', '"', "\\", "a"],
)
def test_no_output_takes_for_ever(part: str) -> None:
    text = part * (100_000 // len(part))
    with ends():
        Redactor({"A_TOKEN": "a" * 8}).redact_output(text)
        Redactor({"A_TOKEN": "a" * 8}).redact_json(json.dumps([text, {text: text}]), is_output=True)
