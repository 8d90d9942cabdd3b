"""An in-process OpenAI-compatible server: the one seam at which tests fake a model."""

from tests.fake_server.replies import Reply
from tests.fake_server.server import FakeServer, Recorded

__all__ = ["FakeServer", "Recorded", "Reply"]
