/** After a run that a script answered: the ways to a real model. */
export const CONFIGURE_LINES: readonly string[] = [
  "  → ANTHROPIC_API_KEY=…",
  "  → OPENAI_API_KEY=… (with OPENAI_BASE_URL for Ollama, vLLM, DeepSeek)",
  "  → npm install -g @anthropic-ai/claude-code, then claude login",
];
