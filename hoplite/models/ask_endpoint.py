"""A model behind an OpenAI-compatible endpoint: `qwen3:4b@http://localhost:11434/v1`, using only the standard
library."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


class ModelFailed(Exception):
    """The endpoint did not answer, or answered with something other than a text."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """How a model samples its words; passed on unchanged."""

    temperature: float = 0.2
    top_p: float = 0.95
    top_k: int = 40
    repeat_penalty: float = 1.1
    max_tokens: int = 1_024
    seed: int | None = None

    def settings(self) -> dict[str, Any]:
        """By the names of the protocol, or of Ollama, llama.cpp and vLLM where it has none."""
        given: dict[str, Any] = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "repeat_penalty": self.repeat_penalty,
            "repetition_penalty": self.repeat_penalty,
            "max_tokens": self.max_tokens,
        }
        return given if self.seed is None else {**given, "seed": self.seed}


def endpoint(name: str, decoding: Decoding, seconds: float = 120.0) -> Callable[[str], str]:
    """The model of this name and address; without an address, OPENAI_BASE_URL is used. OPENAI_API_KEY is sent if
    set."""
    model, _, place = name.partition("@")
    url = (place or os.environ.get("OPENAI_BASE_URL", "")).rstrip("/")
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{name!r} has no address: write NAME@URL, or set OPENAI_BASE_URL.")

    def ask(prompt: str) -> str:
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], **decoding.settings()}
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:
                answer = json.load(response)
            return str(answer["choices"][0]["message"]["content"])
        except urllib.error.HTTPError as problem:
            said = problem.read(500).decode(errors="replace")
            raise ModelFailed(f"{url}: {problem.code} {problem.reason}: {said}") from None
        except (OSError, ValueError, KeyError, IndexError, TypeError) as problem:
            raise ModelFailed(f"{url}: {problem}") from None

    return ask
