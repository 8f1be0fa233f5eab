"""An answer looks as if it came from the documents, and comes from the model's memory.

A reconstruction: the texts are written for this page, and a function stands for the model.
"""

from rag_rule_explainer import Explainer, Source, contains

TEXTS = {
    "handbook": "The main valve is tested every 24 months by the maker's engineers.",
    "circular-7": "From this year on, the main valve is tested every 6 months.",
    "form-12": "Write the date of the test of the main valve into field 3.",
}
REMEMBERED = "The main valve is tested every 12 months."


def model(prompt, context):
    """Stands for the model: it prefers what it learned, unless it is told to read."""
    if "only from the context" not in prompt:
        return REMEMBERED
    for sentence in context:
        if "every 6 months" in sentence:
            return sentence
    return next((sentence for sentence in context if "every" in sentence), "The context does not say.")


def application(question, sources):
    return model("Answer the question.", [source.text for source in sources])


def mended(question, sources):
    return model("Answer only from the context.", [source.text for source in sources])


question = "How often is the main valve tested?"
sources = [Source(name, text) for name, text in TEXTS.items()]

explanation = Explainer(application, predicate=contains("12 months")).explain(question, sources)
print(explanation.baseline.text)
print(explanation)
print(explanation.notes[-1])

again = Explainer(mended, predicate=contains("6 months")).explain(question, sources)
print(again.baseline.text)
print(again)
