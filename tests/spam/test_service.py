"""The service answers what the filter answers, needs the token for writes, and stops in order."""

import http.client
import json
import os
import signal
import socket
import stat
import subprocess
import sys

import pytest

from rosenblatt.spam import Mail, SpamFilter
from rosenblatt.spam import service as service_module
from tests.spam.messages import ham, message, spam

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets are those of POSIX")


class Connection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path):
        super().__init__("filter")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self.path))


class Service:
    """A service that runs in a process of its own."""

    def __init__(self, folder):
        self.store, self.socket = folder / "s.db", folder / "socket"
        command = [sys.executable, "-m", "rosenblatt", "spam", "--store", str(self.store)]
        command += ["serve", "--socket", str(self.socket)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)
        assert b"Serving on" in self.process.stderr.readline()

    def ask(self, path, content=b"", method="POST", token=False):
        """The status and the answer."""
        headers = {"Authorization": f"Bearer {self.token()}"} if token else {}
        connection = Connection(self.socket)
        connection.request(method, path, content, headers)
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read())
        connection.close()
        return found

    def token(self):
        return self.store.with_name("s.db.token").read_text()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.process.stderr.close()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    with SpamFilter(tmp_path_factory.mktemp("service") / "s.db") as spam_filter:
        spam_filter.learn([Mail("", raw) for raw in ham()], "ham")
        spam_filter.learn([Mail("", raw) for raw in spam()], "spam")
        yield spam_filter


@pytest.fixture(scope="module")
def service(trained):
    service = Service(trained.store.path.parent)
    yield service
    service.stop()
    assert not service.socket.exists()
    assert service.process.returncode in (0, -signal.SIGTERM)


def test_it_judges_as_the_filter_does(service, trained):
    for label in (0, 1):
        raw = message(label, 33)
        assert service.ask("/classify", raw) == (200, trained.classify(raw)._asdict())
    assert service.ask("/health", method="GET")[1]["spam"] == 30
    assert service.ask("/explain", message(1, 33))[1]["tokens"][0]["weight"] > 0


def test_writes_need_the_token_and_change_the_next_answer(service):
    raw = message(1, 34)
    for path in ("/learn?label=spam", "/correct?label=ham", "/forget"):
        assert service.ask(path, raw)[0] == 401
    learned = service.ask("/learn?label=ham", raw, token=True)
    assert learned == (200, {"learned": 1, "known": 0})
    assert service.ask("/health", method="GET")[1]["ham"] == 31
    assert service.ask("/correct?label=spam", raw, token=True)[1]["before"] == "ham"
    assert service.ask("/forget", raw, token=True) == (200, {"forgotten": "spam"})
    assert service.ask("/health", method="GET")[1]["spam"] == 30


def test_bad_requests_get_a_sentence(service):
    assert "empty" in service.ask("/classify")[1]["error"]
    bad = service.ask("/learn?label=odd", ham(1)[0], token=True)
    assert bad == (400, {"error": "label must be ham or spam; got 'odd'."})
    assert service.ask("/forget", b"never seen", token=True)[0] == 400


def test_only_the_owner_can_connect_and_read_the_token(service):
    for path in (service.socket, service.store.with_name("s.db.token")):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_answers_over_tcp_do_not_wait_for_one_another():
    """On a connection that was kept each answer took 46 ms."""
    with (
        service_module._listening(None, 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
