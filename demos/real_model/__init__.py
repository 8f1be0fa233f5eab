"""An ordinary LangChain chain on a real language model, explained: ``make demo-model``."""
