"""``python -m rag_rule_explainer`` is ``rag-rules``."""

from .cli.entry import main

if __name__ == "__main__":
    main()
