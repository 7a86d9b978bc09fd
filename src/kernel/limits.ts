/** Every limit of the kernel, one line each with its reason. */
export const LIMITS = {
  /** Live and zombie processes; a spawn beyond is UNAVAILABLE. Bounds the table and `ps`. */
  processes: 65_536,
  /** UTF-8 bytes of an intent: it is sent whole with every model call. */
  intentBytes: 256 * 1024,
  /** Open fds of a process: beyond, UNAVAILABLE. */
  openFds: 1_024,
  /** Bytes of a path. */
  pathBytes: 4_096,
  /** Bytes of one read. */
  readBytes: 16 * 1024 * 1024,
  /** Bytes of one write. */
  writeBytes: 10 * 1024 * 1024,
  /** Kernel calls kept for a later reader, and queued for a present one. Beyond: oldest kept, newest queued are dropped. */
  traceEvents: 256,
  /** Events queued for a client that watches a process; beyond, older steps go first. */
  watchEvents: 1_000,
  /** Log lines kept for a later reader, and queued for a present one. Beyond: oldest kept, newest queued are dropped. */
  logEntries: 256,
  /** Of one process in one daemon's time: lines and characters of its log that the journal keeps; then one line says so. */
  journalLogLines: 10_000,
  journalLogChars: 4 * 1024 * 1024,
  /** Characters of what was said to a session, and of a reply, in its log: the context has all of it. */
  logTextChars: 2_000,
  /** A session that nobody follows and that has nothing to do leaves memory after this long, where no setting says. */
  sessionRestMs: 600_000,
  /** Characters of a title that a person gives, and of one that is made of the first words. */
  titleChars: 200,
  firstWordsChars: 60,
  /** Messages of a page of a conversation, and characters of each that are shown. */
  historyMessages: 200,
  historyTextChars: 64 * 1024,
  /** Bytes of a native's output that a reader of its last lines gets. */
  logTailBytes: 1024 * 1024,
  /** Files whose labels are known, by path; beyond, the longest unused are forgotten. */
  labelledFiles: 4_096,
  /** Characters of a string in a traced argument. */
  traceStringChars: 256,
  /** Messages of a fresh context, and how far appending may double it. */
  contextMessages: 64,
  contextMessagesMax: 65_536,
  /** Characters of one message: below the journal's record limit. */
  messageChars: 900_000,
  /** Of the pictures and documents of one message, in base64. */
  messageMediaChars: 8 * 1024 * 1024,
  /** Questions of one session that are shown at once; the rest wait in order. */
  openAsks: 64,
  /** With those that wait to be shown, in the kernel: beyond, the call is denied. */
  heldAsks: 4_096,
  /** How long questions wait for a client that has left, where no setting says. */
  detachedAskMs: 3_600_000,
  /** Calls that models judge at one time in the kernel; the rest wait in order. */
  classifications: 8,
  /** Descriptions that a plan may ask for, and characters of a plan. Beyond, INVALID. */
  planPrompts: 20,
  planChars: 64 * 1024,
  /** Characters of an argument kept in a journalled intent. */
  journalArgChars: 64 * 1024,
  /** Characters of a result and of an error text kept in the record of an exit: it must fit whatever they are. */
  journalResultChars: 150_000,
  journalWordsChars: 8_000,
  /** Step limit where neither flag, agent file nor settings say otherwise. */
  defaultMaxSteps: 10,
  /** Named values that devices keep for one process, and bytes of each: beyond, INVALID. */
  keptValues: 512,
  keptValueBytes: 256 * 1024,
  /** Agents that start agents: levels below the one that a person started; running children of one; running in one tree. */
  agentDepth: 5,
  agentChildren: 16,
  agentTree: 64,
  /** Started in one tree in all, and running in the kernel. Beyond any of these, BUDGET. */
  agentSpawns: 1_000,
  agents: 1_000,
  /** Contexts of one process: beyond, UNAVAILABLE. */
  contexts: 256,
  /** So long a client's request is known by its key: its repeat makes nothing new. */
  requestKeptMs: 24 * 3600 * 1000,
  /** Answered questions remembered, so that a late answer hears CONFLICT; beyond, the oldest is NOT_FOUND. */
  answeredAsks: 256,
  /** Groups of one process, members of one group: beyond, UNAVAILABLE. */
  groupsPerProcess: 16,
  groupMembers: 1_024,
  /** Bytes of one message (INVALID), messages and bytes in one box (UNAVAILABLE: nothing is stored). */
  mailBytes: 256 * 1024,
  mailboxMessages: 1_024,
  mailboxBytes: 16 * 1024 * 1024,
  /** Calls of one process that wait for a message: beyond, UNAVAILABLE. */
  mailboxReceivers: 256,
  /** Bytes a pipe holds; then its writer waits. Writes up to `pipeAtomicBytes` are not split. */
  pipeBytes: 64 * 1024,
  pipeAtomicBytes: 4_096,
  /** Of one process: beyond, UNAVAILABLE. A thread counts until it is joined, a coroutine until its body has returned. */
  threads: 32,
  coroutines: 64,
  mounts: 64,
  /** How long the end of a process waits for its threads, and for its coroutines. */
  threadGraceMs: 5_000,
  /** Children of a supervisor: beyond, INVALID. */
  supervised: 1_000,
  /** Crash reports kept of each child: the oldest goes. */
  crashReports: 20,
  /** Characters of a cause or reason in such a report;. */
  crashWordsChars: 1_000,
  /** Grants of one session, and of all sessions together: beyond, UNAVAILABLE. */
  sessionGrants: 1_000,
  /** Characters of a rule; rules that a new process is given. Beyond, INVALID. */
  ruleChars: 1_024,
  spawnRules: 2_000,
  /** Paths that a process is known to have seen; the least recently used is forgotten. */
  seenFiles: 1_000,
  /** Calls on one supervisor that wait their turn: beyond, UNAVAILABLE. */
  supervisorCalls: 64,
  /** Of one child of a project: lines kept for `logs`, and their characters; the oldest go. */
  projectLines: 1_000,
  projectLineChars: 128 * 1024,
  /** Characters of one such line; a longer one is told in pieces. */
  lineChars: 16 * 1024,
  /** Events queued for a client that follows a project; beyond, the oldest that may be lost go. */
  projectEvents: 1_000,
  /** Projects that have ended and are remembered, and the characters of their last lines, each. */
  projectsEnded: 32,
  endedLineChars: 512 * 1024,
  /** A handler of a signal that takes longer is logged, and the default acts. */
  handlerMs: 5_000,
  /** Handlers of one process under way at once; beyond, the default acts. */
  handlersRunning: 16_384,
  /** A mount is back after this long, connected or not. */
  mountWaitMs: 500,
  /** A required server of an agent file has this long to connect. */
  mountRequiredMs: 30_000,
  /** All mounts together at shutdown. */
  unmountAllMs: 600,
  /** TERM, then KILL after this long. */
  termGraceMs: 10_000,
  /** The same for children that end with their parent. */
  orphanGraceMs: 5_000,
  /** The same for services at the shutdown, when nobody needs them any more. */
  serviceGraceMs: 2_000,
  /** TERM, then KILL after this long, for programs of the host. */
  nativeGraceMs: 5_000,
  /** Live programs of one agent or program: beyond, BUDGET. */
  natives: 100,
  /** Words and bytes of a command: beyond, INVALID. */
  commandWords: 4_096,
  commandBytes: 128 * 1024,
  /** How long reaping waits for a loop that does not end. */
  loopGraceMs: 5_000,
  /** A child of the kernel stays a zombie this long, so that `ps` shows it. */
  zombieMs: 60_000,
} as const;
