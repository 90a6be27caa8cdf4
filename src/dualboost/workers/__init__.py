"""How workers that each hold a part of the rows exchange partial results: the communicators."""

from __future__ import annotations

from .base import ALONE as ALONE
from .base import Communicator as Communicator
from .base import Traffic as Traffic
