"""The filter as a local service: the model stays in memory, a message is judged in a millisecond.

It listens on a unix socket that only its owner can open, or on the loopback address. Reading is
open to whoever can connect; learning, correcting and forgetting need the token.

    GET  /health                     what has been learned
    POST /classify                   a message: label, probability, band
    POST /explain                    a message: the tokens that decided
    POST /learn?label=ham|spam       Authorization: Bearer TOKEN
    POST /correct?label=ham|spam     Authorization: Bearer TOKEN
    POST /forget                     Authorization: Bearer TOKEN
"""

import hmac
import os
import secrets
import signal
import socket as sockets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .mailbox import Mail
from .message import MOST_BYTES
from .spam_filter import SpamFilter, default_store
from .store import LABELS, StoreError

MOST_SENT = 100 << 20  # bytes of a request; of a message `MOST_BYTES` are read
LOOPBACK = "127.0.0.1"


class Refused(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def application(spam_filter: SpamFilter, token: str) -> Starlette:
    """The service as an ASGI application."""

    async def health(request: Request) -> JSONResponse:
        ham, spam = spam_filter.store.n_messages()
        return JSONResponse({"status": "ok", "ham": ham, "spam": spam, "model": spam_filter.model})

    async def classify(request: Request) -> JSONResponse:
        spam_filter.scorer(all_tokens=True)
        return JSONResponse(spam_filter.classify(await _body(request))._asdict())

    async def explain(request: Request) -> JSONResponse:
        verdict = spam_filter.explain(await _body(request))
        tokens = [{"token": e.token, "weight": e.weight} for e in verdict.evidence]
        return JSONResponse({"probability": verdict.probability, "tokens": tokens})

    async def learn(request: Request) -> JSONResponse:
        _authorise(request, token)
        done = spam_filter.learn([Mail("", await _body(request))], _label(request))
        for _, why in done.refused:
            raise Refused(400, why)
        return JSONResponse({"learned": done.ham + done.spam, "known": done.repeated})

    async def correct(request: Request) -> JSONResponse:
        _authorise(request, token)
        old = spam_filter.correct(await _body(request), _label(request))
        return JSONResponse({"label": _label(request), "before": old})

    async def forget(request: Request) -> JSONResponse:
        _authorise(request, token)
        return JSONResponse({"forgotten": spam_filter.forget(await _body(request))})

    posts = {"classify": classify, "explain": explain, "learn": learn, "correct": correct}
    posts["forget"] = forget
    routes = [Route(f"/{name}", handler, methods=["POST"]) for name, handler in posts.items()]
    errors: dict[Any, Any] = {Refused: _refusal, ValueError: _refusal, StoreError: _refusal}
    return Starlette(routes=[Route("/health", health), *routes], exception_handlers=errors)


async def _refusal(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"error": str(error)}, status_code=getattr(error, "status", 400))


async def _body(request: Request) -> bytes:
    """The message that was sent, read to the limit; more than `MOST_SENT` is refused."""
    kept, size = [], 0
    async for piece in request.stream():
        if size <= MOST_BYTES:
            kept.append(piece)
        size += len(piece)
        if size > MOST_SENT:
            raise Refused(413, f"the message is longer than {MOST_SENT >> 20} MB.")
    return b"".join(kept)


def _label(request: Request) -> str:
    label = request.query_params.get("label", "")
    if label not in LABELS:
        raise Refused(400, f"label must be ham or spam; got {label!r}.")
    return label


def _authorise(request: Request, token: str) -> None:
    given = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not hmac.compare_digest(given.encode(), token.encode()):
        raise Refused(401, "this needs the token: Authorization: Bearer TOKEN.")


def token_of(path: Path) -> str:
    """The token of a file that only its owner can read, made if it is not there."""
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32))
    token = path.read_text().strip()
    if len(token) < 16:
        raise ValueError(f"The token in {path} must have 16 characters or more.")
    return token


def _listening(socket: str | None, port: int | None) -> sockets.socket:
    """A socket that is bound: a file for its owner alone, or a port of the loopback address."""
    if socket is None:
        listener = sockets.socket(sockets.AF_INET, sockets.SOCK_STREAM)
        listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
        # An answer goes out in two pieces; the second waited 40 ms for word of the first.
        listener.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
        listener.bind((LOOPBACK, port))
        listener.listen()
        return listener
    with suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.stat(socket).st_mode):
            raise ValueError(f"{socket} is there and is no socket.")
        os.unlink(socket)  # of a service that was killed
    listener = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        listener.bind(socket)
    finally:
        os.umask(before)
    listener.listen()  # whoever connects from now on waits for an answer
    return listener


def run(
    store: str | None,
    *,
    model: str,
    socket: str | None,
    port: int | None,
    token_file: str | None,
    print_note: Callable[[str], None],
) -> None:
    """Serve until interrupted or terminated; requests under way are answered first."""
    path = Path(store) if store else default_store()
    token_path = Path(token_file) if token_file else path.with_name(f"{path.name}.token")
    token = token_of(token_path)
    with SpamFilter(path, model=model) as spam_filter:
        listener = _listening(socket, port)
        spam_filter.scorer(all_tokens=True)
        where = socket or f"http://{LOOPBACK}:{listener.getsockname()[1]}"
        print_note(f"Serving on {where}; the token for writes is in {token_path}.")
        config = uvicorn.Config(
            application(spam_filter, token), log_level="warning", access_log=False, lifespan="off"
        )
        # The server raises the signal again once all is answered.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            if socket is not None:
                with suppress(FileNotFoundError):
                    os.unlink(socket)
