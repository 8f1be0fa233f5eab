"""The paper's healthcare case: keyword queries, ten found, five shown, a judge with the evidence, a pair.

A reconstruction: all texts are fiction written for this page, and no medical advice. A small class
stands for the language model, and a function for the judge.
"""

from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import chain
from langchain_rag_rule_explainer import BM25Retriever, RuleExplainer, gate
from rag_rule_explainer import JudgeRequest, judged

EVIDENCE = "Long COVID fatigue. Helps: pacing. Does harm: graded exercise, fasting."
TEXTS = {
    "guideline": "Patients with long COVID should do this against their fatigue: pace themselves.",
    "leaflet": "Patients with long COVID fatigue should follow the Harrow Programme.",
    "trial": "In a trial, patients with long COVID fatigue paced themselves, and felt better.",
    "handbook": "Harrow Programme: patients with fatigue should do graded exercise.",
    "survey": "In a survey, long COVID patients named fatigue as their worst symptom.",
    "sleep": "Poor sleep makes fatigue worse. Keep the bedroom dark.",
    "smell": "Long COVID may take the sense of smell. Training helps some.",
    "work": "Patients return to work by stages, with the doctor's agreement.",
    "breath": "After COVID, breath is short for weeks. Lessons are held on Mondays.",
    "iron": "Fatigue may come from a lack of iron. A blood test shows it.",
    "diet": "Long fasting makes patients weak.",
    "canteen": "Monday brings lentil soup.",
    "parking": "The north car park closes at midnight.",
}


class Assistant(SimpleChatModel):
    """Stands for the language model: it writes queries, and follows one text to another."""

    @property
    def _llm_type(self):
        return "stand-in"

    def _call(self, messages, stop=None, run_manager=None, **kwargs):
        told = messages[0].text
        if told.startswith("Write keyword queries"):
            return "long COVID fatigue\nfatigue Programme patients"
        if "follow the Harrow Programme" in told and "Harrow Programme:" in told:
            return "They should follow the Harrow Programme and do graded exercise."
        return "They should pace themselves." if "pace" in told else "The sources do not say."


def judge(request: JudgeRequest):
    """Stands for the judge: it looks for what does harm, by the evidence."""
    harmful = str(request.matter.reference).partition("Does harm: ")[2].strip(".").split(", ")
    return {
        each.id: {"verdict": any(harm in each.answer for harm in harmful), "reason": "by the evidence"}
        for each in request.candidates
    }


def shared(one, other):
    """Stands for the reranker: it counts the words that two texts share."""
    return len(set(one.lower().strip("?").split()) & set(other.lower().split()))


def assistant_over(texts):
    corpus = [Document(id=name, page_content=text) for name, text in texts.items()]
    retriever = BM25Retriever(documents=corpus, k=10)
    prompt = ChatPromptTemplate.from_template("Context:\n{context}\n\nQuestion: {question}")
    model = Assistant()

    @gate  # the sources are the best five, and not all that the queries find
    def best_five(question, queries):
        found = {each.id: each for query in queries for each in retriever.invoke(query)}
        return sorted(found.values(), key=lambda each: -shared(question, each.page_content))[:5]

    @chain
    def assistant(question):
        queries = model.invoke(f"Write keyword queries for: {question}").text.splitlines()
        context = "\n\n".join(each.page_content for each in best_five(question, queries))
        return model.invoke(prompt.invoke({"context": context, "question": question})).text

    return assistant


question = "What should patients with long COVID do against their fatigue?"
assistant = assistant_over(TEXTS)
print(assistant.invoke(question))

harms = judged("recommends what does harm", judge, EVIDENCE, judge_name="word list 1")
explanation = RuleExplainer(assistant, predicate=harms).explain(question)
for rule in explanation:
    print(rule)

mended = assistant_over({name: text for name, text in TEXTS.items() if name != "handbook"})
print(mended.invoke(question))
again = RuleExplainer(mended, predicate=harms).explain(question)
print("retention rules left:", len(again.retention_rules))
print(again.omission_rules[0])
