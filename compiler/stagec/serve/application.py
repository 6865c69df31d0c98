"""The application: requests for the page, about runs, and about the door, with the doorkeeper before all of them."""

from __future__ import annotations

from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stagec.core.json import object_of, text_in
from stagec.drivers.following import UnreachableError
from stagec.serve.doorkeeper import Access, App, Doorkeeper
from stagec.serve.page_files import list_page_routes
from stagec.serve.plan_shelf import PlanShelf
from stagec.serve.run_api import RunApi, answer_error, answer_json
from stagec.serve.serve_setup import ServeSetup
from stagec.serve.steering import SteeringApi
from stagec.serve.watch import Watch


class Entrance:
    """Where a browser shows the token."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.judge: Callable[[str], tuple[int, str] | None] = lambda _: (503, "the door is not there yet")

    async def log_in(self, request: Request) -> Response:
        """Give a browser that has shown the token a cookie, which scripts cannot read."""
        try:
            token = text_in(object_of(await request.json()), "token") or ""
        except (ValueError, RecursionError):
            return answer_error(400, "the body is not JSON")
        refusal = self.judge(token)
        if refusal is not None:
            refused = answer_error(*refusal)
            refused.headers["retry-after"] = "60"
            return refused
        response = answer_json({})
        is_encrypted = (request.headers.get("origin") or "").startswith("https:")
        name, session = self._access.cookie, self._access.session
        response.set_cookie(name, session, httponly=True, samesite="strict", secure=is_encrypted)
        return response


def _explain_unreachable(_request: Request, error: Exception) -> Response:
    """Answer what cannot be answered now: whoever asks again a little later may have luck."""
    return answer_error(503, str(error))


def make_application(
    setup: ServeSetup, watch: Watch, access: Access, tell: Callable[[str], None]
) -> tuple[App, Callable[[], None]]:
    """Return the application, and what ends its streams."""
    shelf, entrance = PlanShelf(setup.plans), Entrance(access)
    api, steering = RunApi(watch, shelf, can_start=setup.can_start), SteeringApi(setup, watch, shelf, tell)
    login = Route("/api/login", entrance.log_in, methods=["POST"])
    door = Doorkeeper(
        Starlette(
            routes=[*list_page_routes(), *api.list_routes(), *steering.list_routes(), login],
            exception_handlers={UnreachableError: _explain_unreachable},
        ),
        access,
        tell,
    )
    entrance.judge = door.judge_token
    return door, api.streams.close
