"""This module runs ``rag-rules demo``, which explains the wrong answers of two stories.

The stories are modelled on the paper. A real chain with a real retriever answers their questions.
"""

from collections.abc import Iterator

from rich.text import Text

from ..errors import MissingExtra
from ..explanation.explanation import Explanation
from ..predicates import contains
from ..progress import ProgressBar
from ..report import lines
from .stories import STORIES, Story
from .terminal import print_lines

_YOUR_OWN = """\
The same on your own chain:

    from langchain_rag_rule_explainer import RuleExplainer
    from rag_rule_explainer import contains

    explainer = RuleExplainer(your_chain, predicate=contains("prednisolone"))
    print(explainer.explain("your question"))

and on your own documents, without any code:

    rag-rules explain --question "..." --sources documents.jsonl --predicate contains:...
"""


def demo() -> None:
    """Explain two wrong answers offline: one document causes the first, a pair the second."""
    for number, story in enumerate(STORIES, start=1):
        print_lines(_story(number, story))
    print_lines(_YOUR_OWN.splitlines())


def explained_story(story: Story, *, lockstep: bool = False) -> Explanation:
    """Returns the explanation of a story's answer. ``lockstep``: if True, the same replays are made in
    every run, in the same order. Raises MissingExtra without LangChain."""
    try:
        # This import is not at the top of the file, because only the demo needs LangChain.
        from langchain_core.documents import Document
        from langchain_rag_rule_explainer import RuleExplainer, lexical_chain
    except ImportError as error:
        raise MissingExtra.naming("langchain,bm25", "the demo's chain") from error
    corpus = [
        Document(id=document.id, page_content=document.text, metadata={"title": document.title})
        for document in story.corpus
    ]
    chain = lexical_chain(corpus, k=len(story.documents))
    with ProgressBar(keep=False) as bar:
        condition = contains(story.symptom)
        explainer = RuleExplainer(chain, predicate=condition, progress=bar, lockstep=lockstep)
        return explainer.explain(story.question)


def _story(number: int, story: Story) -> Iterator[Text]:
    explanation = explained_story(story)
    yield Text(f"{number}. {story.name}", style="bold underline")
    yield Text(story.introduction)
    yield Text()
    yield from lines(explanation)
    yield Text()
