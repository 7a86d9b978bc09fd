/** Every limit of MCP servers, one line each with its reason. */
export const MCP_LIMITS = {
  /** Distinct servers at once; beyond, BUDGET: each is a program of somebody else's that runs for days. */
  servers: 64,
  /** A server that nobody holds lives on this long: the next process that wants it finds it warm. */
  idleTtlMs: 300_000,
  /** Servers that connect at once: each local one is a program that starts. */
  connectingLocal: 3,
  connectingRemote: 20,
  /** One attempt to connect, from the start of the program to its list of tools. */
  connectMs: 30_000,
  /** How long the newer protocol is asked for before a silent program counts as an older one. */
  probeMs: 5_000,
  /** A request without an answer and without progress, and one with progress. */
  quietMs: 60_000,
  totalMs: 600_000,
  /** Between restarts: doubled from the first to the last. */
  backoffMs: 1_000,
  maxBackoffMs: 30_000,
  /** Restarts in a window; then the server has failed. */
  restarts: 5,
  restartWindowMs: 60_000,
  /** INT and a closed input, then TERM, then KILL. */
  interruptMs: 100,
  termMs: 400,
  /** One message of a server: beyond, its connection ends. */
  messageBytes: 10 * 1024 * 1024,
  /** Lines on stdout in a row that are no messages: beyond, its connection ends. */
  garbageLines: 10_000,
  /** Written to a server that does not read: beyond, its connection ends. */
  unreadBytes: 16 * 1024 * 1024,
  /** Of a server's stderr, for the words about its end. */
  stderrBytes: 8 * 1024,
  /** Lines of a server's stderr that are logged, and characters of each. The journal keeps logs. */
  logLines: 1_000,
  logLineChars: 500,
  /** Tools and pages of a list; what comes after is not there. */
  tools: 4_096,
  pages: 512,
  resources: 1_000,
  /** All of one list as text: it is kept as long as the connection. */
  listBytes: 8 * 1024 * 1024,
  schemaBytes: 64 * 1024,
  descriptionChars: 2_048,
  /** Of one result, as a model reads it. */
  resultChars: 100_000,
} as const;
