"""What the model answers, asked without any client library of a framework."""

from collections.abc import Sequence

from demos.real_model.chain import LONGEST
from demos.real_model.runtime import Endpoint


def said_by(endpoint: Endpoint, messages: Sequence[tuple[str, str]]) -> str:
    """What the model answers to these messages, asked without any client library of a framework."""
    import httpx

    body = {
        "model": endpoint.name,
        "messages": [{"role": role, "content": content} for role, content in messages],
        "temperature": 0,
        "seed": 1,
        "max_tokens": LONGEST,
        "cache_prompt": False,
    }
    reply = httpx.post(f"{endpoint.url}/chat/completions", json=body, timeout=300)
    return reply.raise_for_status().json()["choices"][0]["message"]["content"]
