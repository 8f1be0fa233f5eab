"""The paper's experiments on a real language model, over a real socket: ``make paper-model``."""
