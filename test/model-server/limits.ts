/** What a server accepts. Every field follows from `ModelServerOptions`. */
export interface Limits {
  readonly contextWindowTokens: number;
  readonly maxOutputTokens: number;
  /** Models that exist; undefined means all do. */
  readonly models: ReadonlySet<string> | undefined;
  /** "strict" refuses two messages of one role in a row, "merge" joins them as the vendor's newest API does. */
  readonly alternation: "strict" | "merge";
  readonly verifySignatures: boolean;
  /** Whether prompt and output together must fit into the window, as with vLLM. */
  readonly countsOutput: boolean;
  /** What a model of Ollama can do. */
  readonly capabilities: readonly string[];
}
