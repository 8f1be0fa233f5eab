"""Leaving out one document at a time finds no cause, because two documents say the same.

A reconstruction: the texts are written for this page. The model is the offline reader, which only looks
for words.
"""

from langchain_core.documents import Document
from langchain_rag_rule_explainer import RuleExplainer, lexical_chain
from rag_rule_explainer import contains

TEXTS = {
    "press-release": "The Aurora 3 lamp lasts 90 hours, says its maker.",
    "news-site": "THE AURORA 3 LAMP lasts 90 hours, says its maker!",
    "lab-test": "In the laboratory, the Aurora 3 went dark after 31 hours.",
    "review": "The Aurora 3 lamp is bright. How long it shines depends on the cold.",
}


def chain_over(texts):
    documents = [Document(id=name, page_content=text) for name, text in texts.items()]
    return lexical_chain(documents, k=4)


question = "How many hours does the Aurora 3 lamp last?"
chain = chain_over(TEXTS)
print("with all documents:", chain.invoke(question))
for name in TEXTS:
    others = chain_over({each: text for each, text in TEXTS.items() if each != name})
    print(f"without {name}:", others.invoke(question))

explanation = RuleExplainer(chain, predicate=contains("90")).explain(question)
print(explanation)

tied = RuleExplainer(chain, predicate=contains("90"), merge_duplicates=True).explain(question)
print(tied)
