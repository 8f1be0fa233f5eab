"""This module runs the command line ``rag-rules`` for ``python -m rag_rule_explainer``."""

from .cli import main

if __name__ == "__main__":
    main()
