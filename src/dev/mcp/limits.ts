/** The limits of MCP servers, each with its reason. */
export const MCP_LIMITS = {
  /** Bound on distinct servers; beyond it, BUDGET: each is a foreign program that runs for days. */
  servers: 64,
  /** How long a server without holders is kept, so that the next process finds it running. */
  idleTtlMs: 300_000,
  /** Bound on servers that connect at the same time: each local one is a starting program. */
  connectingLocal: 3,
  connectingRemote: 20,
  /** Timeout for one attempt to connect, from the start of the program to its list of tools. */
  connectMs: 30_000,
  /** How long we wait for an answer in the newer protocol before a silent program counts as an older one. */
  probeMs: 5_000,
  /** Timeouts for a request: without an answer or progress, and in total. */
  quietMs: 60_000,
  totalMs: 600_000,
  /** Delay between restarts: doubled each time, up to the maximum. */
  backoffMs: 1_000,
  maxBackoffMs: 30_000,
  /** Restarts allowed per window; one more and the server has failed. */
  restarts: 5,
  restartWindowMs: 60_000,
  /** Stopping: INT and a closed input; TERM after the first time; KILL after the second. */
  interruptMs: 100,
  termMs: 400,
  /** Bound on one message of a server; beyond it, the connection ends. */
  messageBytes: 10 * 1024 * 1024,
  /** Bound on consecutive lines on stdout that are not messages; beyond it, the connection ends. */
  garbageLines: 10_000,
  /** Bound on bytes that a server has not read yet; beyond it, the connection ends. */
  unreadBytes: 16 * 1024 * 1024,
  /** Bytes of a server's stderr kept for the report of its end. */
  stderrBytes: 8 * 1024,
  /** Lines of a server's stderr that are logged, and characters of each; bounded, because the journal keeps logs. */
  logLines: 1_000,
  logLineChars: 500,
  /** Bounds on the tools and pages of a list; the rest is ignored. */
  tools: 4_096,
  pages: 512,
  resources: 1_000,
  /** Bound on a whole list as text, because it is kept as long as the connection. */
  listBytes: 8 * 1024 * 1024,
  schemaBytes: 64 * 1024,
  /** Bound on the levels of an item of a list: what walks one, such as JSON itself, does so by recursion. */
  levels: 200,
  descriptionChars: 2_048,
  /** Bound on one result, as shown to a model. */
  resultChars: 100_000,
} as const;
