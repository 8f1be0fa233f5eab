"""ContextCite's own library beside rules, on the same real language model.

``python -m tests.benchmarks.peers.cited`` in an environment with the dependency group ``peers-model``
writes ``context_cite.json``, which the page beside other methods is made from. Both ask SmolLM2 through
the same weights, the same prompt and greedy decoding; ContextCite alone sees probabilities of tokens.
"""

import json
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

from demos.real_model.asked import Asked, read_questions
from demos.real_model.runtime import weights
from rag_rule_explainer.lattice import Lattice
from rag_rule_explainer.rules import RuleKind
from tests.benchmarks.peers.conditions import known

FILE = Path(__file__).with_name("context_cite.json")
TEMPLATE = "Answer from the context, in one short sentence.\n\n{context}\n\nQuestion: {query}"
ABLATIONS = 32
LONGEST = 30
COPY = "It has been announced: "


class Loaded(NamedTuple):
    """The model, and what turns texts into its tokens."""

    model: Any
    tokenizer: Any


def loaded() -> Loaded:
    transformers: Any = import_module("transformers")
    # Two threads wait for each other at every layer, which takes minutes on a busy machine.
    import_module("torch").set_num_threads(1)
    file = weights()
    options = {"gguf_file": file.name}
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **options)
    tokenizer.padding_side = "left"
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, **options).eval()
    return Loaded(model, tokenizer)


def answered(with_: Loaded, question: str, documents: Sequence[str]) -> str:
    torch: Any = import_module("torch")
    text = TEMPLATE.format(context="\n".join(documents), query=question)
    prompt = with_.tokenizer.apply_chat_template(
        [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
    )
    tokens = with_.tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
    with torch.no_grad():
        made = with_.model.generate(**tokens, max_new_tokens=LONGEST, do_sample=False)
    return with_.tokenizer.decode(made[0][tokens["input_ids"].shape[1] :], skip_special_tokens=True)


def partitioner_of(documents: Sequence[str]) -> Any:
    """One source for each document; ContextCite's own splits at sentences."""
    cite: Any = import_module("context_cite.context_partitioner")

    class Documents(cite.BaseContextPartitioner):
        @property
        def num_sources(self) -> int:
            return len(documents)

        def split_context(self) -> None:
            return

        def get_source(self, index: int) -> str:
            return documents[index]

        def get_context(self, mask: Any = None) -> str:
            kept = range(len(documents)) if mask is None else [n for n, on in enumerate(mask) if on]
            return "\n".join(documents[n] for n in kept)

    return Documents("\n".join(documents))


def cited(with_: Loaded, question: str, documents: Sequence[str]) -> list[float]:
    """A score for each document, by the library."""
    cite: Any = import_module("context_cite")
    citer = cite.ContextCiter(
        with_.model,
        with_.tokenizer,
        "\n".join(documents),
        question,
        generate_kwargs={"max_new_tokens": LONGEST, "do_sample": False},
        num_ablations=ABLATIONS,
        prompt_template=TEMPLATE,
        partitioner=partitioner_of(documents),
    )
    return [float(each) for each in citer.get_attributions(verbose=False)]


def compared(with_: Loaded, each: Asked, *, copied: bool) -> dict[str, Any] | None:
    """What both say of one question; None if the model is wrong on all documents. ``copied``: the
    document with the answer is there a second time, in other words."""
    names, documents = list(each.documents), list(each.documents.values())
    wanted = [names.index(each.right)]
    if copied:
        wanted.append(len(documents))
        documents.append(COPY + documents[wanted[0]])
    lattice = Lattice(len(documents))
    baseline = answered(with_, each.question, documents)
    if not each.is_right(baseline):
        return None
    started = process_time()
    said = {
        mask: answered(with_, each.question, [documents[unit] for unit in lattice.units(mask)])
        for mask in lattice.masks()
    }
    asked = process_time() - started
    rules = {
        "contains": known(lattice, lambda mask: each.is_right(said[mask])).rules[RuleKind.RETENTION],
        "same": known(lattice, lambda mask: said[mask] == baseline).rules[RuleKind.RETENTION],
    }
    started = process_time()
    scores = cited(with_, each.question, documents)
    return {
        "question": each.question,
        "copied": copied,
        "wanted": wanted,
        "answer": baseline,
        "rules": {name: [list(lattice.units(mask)) for mask in found] for name, found in rules.items()},
        "scores": [round(score, 4) for score in scores],
        "seconds": {"rules": round(asked, 1), "ContextCite": round(process_time() - started, 1)},
    }


def write(most: int) -> None:
    """Goes on where it was stopped: a question that is in the file is not asked again."""
    with_ = loaded()
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    found |= {
        "date": found.get("date") or datetime.now(timezone.utc).date().isoformat(),
        "weights": sha256(weights().read_bytes()).hexdigest(),
        "versions": {name: version(name) for name in ("context-cite", "transformers", "torch")},
        "ablations": ABLATIONS,
    }
    done: dict[str, Any] = found.setdefault("questions", {})
    for each in read_questions()[:most]:
        for copied in (False, True):
            key = f"{each.question}{' (with a copy)' if copied else ''}"
            if key not in done:
                done[key] = compared(with_, each, copied=copied)
                FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
                print(key, done[key], flush=True)


if __name__ == "__main__":
    write(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
