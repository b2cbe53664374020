"""Prints a line of JSON for each check."""

import json
import os
import sys
from collections.abc import Callable


class Failure(Exception):
    """What a check found wrong."""


class Report:
    def __init__(self) -> None:
        self.failed = False

    def check(self, name: str, check: Callable[[], str]) -> None:
        """Runs a check and prints what it saw, or why it failed."""
        try:
            ok, detail = True, check()
        except Exception as error:  # Any exception fails the check, not the program.
            self.failed, ok, detail = True, False, f"{type(error).__name__}: {error}"
        print(json.dumps({"check": name, "ok": ok, "detail": detail}, ensure_ascii=False), flush=True)

    def exit(self) -> None:
        sys.exit(1 if self.failed else 0)


def require(holds: bool, message: str) -> None:
    if not holds:
        raise Failure(message)


def env(name: str) -> str:
    if not os.environ.get(name):
        sys.exit(f"{name} must be set: run npm run test:clients")
    return os.environ[name]
