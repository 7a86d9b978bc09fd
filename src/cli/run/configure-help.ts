/** Printed after a run that a script answered: the ways to a real model. */
export const CONFIGURE_LINES: readonly string[] = [
  "  → crux auth login  (type a key of Anthropic, OpenAI, Gemini or xAI; it is tried, then stored: docs/models.md)",
  "  → export ANTHROPIC_API_KEY=…  (Claude)",
  "  → export OPENAI_API_KEY=…  (OpenAI; with OPENAI_BASE_URL=… also Ollama, vLLM, DeepSeek)",
  "  → npm install -g @anthropic-ai/claude-code, then run claude once and log in",
];
