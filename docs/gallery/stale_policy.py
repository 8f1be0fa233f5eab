"""An assistant answers from a policy that was replaced, though the new one is retrieved as well.

A reconstruction: the texts are written for this page. The model is the offline reader, which only looks
for words.
"""

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import TextNode
from llama_index_rag_rule_explainer import BM25Retriever, OfflineLLM, RuleExplainer
from rag_rule_explainer import diff, equals

TEXTS = {
    "policy-2024": "Leave policy of 2024. Employees get 25 days of leave a year.",
    "policy-2019": "Leave policy of 2019. Employees get 20 days of leave a year.",
    "carry-over": "Leave that is left at the end of a year may be taken until March.",
    "sick-leave": "Employees who are ill for three days bring a note.",
}


def engine_over(texts):
    nodes = [TextNode(id_=name, text=text) for name, text in texts.items()]
    return RetrieverQueryEngine.from_args(BM25Retriever(nodes, k=4), llm=OfflineLLM())


question = "How many days of leave do employees get a year?"
engine = engine_over(TEXTS)
print(engine.query(question))

explanation = RuleExplainer(engine, predicate=equals("20")).explain(question)
print(explanation)

released = engine_over({name: text for name, text in TEXTS.items() if name != "policy-2019"})
after = RuleExplainer(released, predicate=equals("20")).explain(question)
print(diff(explanation, after))
