"""Innocent data beside the messages of a conversation, each under a name that applications give it."""

import base64
from typing import Any

from langchain_core.documents import Document

from tests.integrations.beside_forms import ASKED

STYLE = "Answer in whole sentences. Be kind and brief, and never promise what the shop cannot do. " * 8
INNOCENT: dict[str, tuple[str, Any]] = {
    "a profile": (
        "user",
        {"name": "Ann Smith", "language": "English", "plan": "gold", "age": 41, "city": "New York"},
    ),
    "a customer": (
        "customer",
        {"id": "c-17", "company": "Acme Corp Ltd", "tier": "B2B", "since": "2019-04-01"},
    ),
    "an address": (
        "profile",
        {"address": {"street": "12 Elm Street", "zip": "10115", "country": "Germany"}},
    ),
    "a locale": ("locale", "en-US"),
    "a language": ("language", "English"),
    "a time zone": ("timezone", "Europe/Berlin"),
    "a date": ("today", "2026-11-29"),
    "a date in words": ("date", "Sunday, 29 November 2026"),
    "retrieval": (
        "retrieval",
        {"k": 4, "search_type": "mmr", "score_threshold": 0.5, "filter": {"year": 2024}},
    ),
    "a filter": ("filters", {"must": [{"key": "lang", "match": {"value": "en"}}]}),
    "weights": ("weights", {"bm25": 0.4, "dense": 0.6}),
    "a system prompt": ("system_prompt", "You are a helpful assistant of a bike shop. Answer briefly."),
    "instructions": ("instructions", ["Answer briefly.", "Say when you do not know."]),
    "a persona": ("persona", "A patient librarian who likes short sentences."),
    "a tone": ("tone", "friendly but formal"),
    "a style guide": ("style_guide", STYLE),
    "a long guide under any name": ("handbook", STYLE * 3),
    "tools": ("tools", ["search", "send_email", "pay"]),
    "tools in a schema": (
        "tools",
        [
            {
                "type": "function",
                "function": {
                    "name": "pay",
                    "description": "Pays a bill of the shop.",
                    "parameters": {"type": "object"},
                },
            }
        ],
    ),
    "allowed actions": ("allowed", ["read", "write"]),
    "a thread": ("thread_id", "0b7c1a52-9b1e-4f57-8d1c-3f3f0c2f9e11"),
    "a conversation's id": ("conversation_id", "conv_89af12bc"),
    "a session's id": ("session_id", "s-42"),
    "flags": ("feature_flags", {"new_ui": True, "beta": False, "rerank": True}),
    "flags under any name": ("rollout", {"new_ui": True, "beta": False}),
    "a catalogue": (
        "catalogue",
        [
            {
                "sku": "B-1",
                "name": "Blue bike",
                "description": "A light bike for the city.",
                "price": 499.0,
            },
            {"sku": "B-2", "name": "Red lamp", "description": "A lamp with two lights.", "price": 19.5},
        ],
    ),
    "products": ("products", [{"title": "Blue bike", "summary": "A light bike.", "tags": ["city"]}]),
    "documents": ("documents", ["Refunds take fourteen days.", "The office opens at ten."]),
    "Documents": (
        "docs",
        [Document("Refunds take fourteen days.", metadata={"source": "faq.md", "title": "Refunds"})],
    ),
    "a FAQ": ("faq", [{"question": "How long do refunds take?", "answer": "Fourteen days."}]),
    "examples": ("examples", [{"input": "How long do refunds take?", "output": "Fourteen days."}]),
    "few shots": (
        "few_shot",
        [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "Four."}],
    ),
    "a model": ("model", "gpt-4o-mini"),
    "options of a model": (
        "model_options",
        {"temperature": 0.2, "max_tokens": 4711, "stop": ["\n\n"], "top_p": 1},
    ),
    "a limit": ("history_limit", 10),
    "a window": ("max_turns", 4),
    "a link": ("url", "https://example.com/docs/start?page=2"),
    "an e-mail": ("email", "ann@example.com"),
    "a key": ("api_key", f"sk-proj-{'aZ09' * 40}"),
    "headers": ("headers", {"User-Agent": "Mozilla/5.0 (X11; Linux)", "Accept": "application/json"}),
    "a schema": (
        "output_schema",
        {
            "type": "object",
            "title": "Reply",
            "properties": {"ok": {"type": "boolean", "description": "True if all is well"}},
        },
    ),
    "a format": ("response_format", "a table with two columns"),
    "a number": ("top_k", 5),
    "a number under any name": ("depth", 3),
    "a word under any name": ("variant", "b"),
    "prices": (
        "prices",
        {
            "bike": 499,
            "lamp": 19,
            "bell": 7,
            "lock": 29,
            "tyre": 30,
            "seat": 25,
            "pump": 12,
            "bag": 60,
            "oil": 5,
        },
    ),
    "a question once more": ("question", ASKED[1]),
    "the original question": ("original_query", ASKED[1]),
    "roles": ("roles", ["admin", "editor"]),
    "a picture": ("image", base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4).decode()),
    "a glossary": ("glossary", {"SKU": "Number of a product", "RMA": "Permission to send goods back"}),
    "policies": ("policies", ["Refunds within fourteen days of delivery.", "No refunds on gift cards."]),
    "a template": ("prompt_template", "Answer the question: {question}\nUse this: {context}"),
    "hours": ("opening_hours", {"mon": "10 to 18", "sun": "closed"}),
    "nothing": ("extra", None),
    "empty": ("notes", ""),
    "a region": ("region", "eu-central-1"),
    "a version": ("version", "2026.11.3"),
    "coordinates": ("location", {"lat": 52.52, "lon": 13.4}),
    "a department": ("department", "After sales"),
    "a currency": ("currency", "EUR"),
    "a deadline": ("deadline", "2026-12-01T10:00:00Z"),
    "categories": ("categories", ["Bikes & parts", "Lamps and bells"]),
    "settings": (
        "settings",
        {"theme": "dark", "streaming": True, "retries": 3, "greeting": "Hello and welcome!"},
    ),
}
