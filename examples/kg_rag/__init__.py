"""KG-RAG: facts about the entities of a question, cut to what is relevant, as the context of a prompt."""
