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
  /**
   * Kernel calls kept for a later reader, and queued for a current one. Beyond: the oldest kept, the newest queued are
   * dropped.
   */
  traceEvents: 256,
  /** Events queued for a client that watches a process; beyond, the oldest steps are dropped first. */
  watchEvents: 1_000,
  /** Characters of a reply that arrives, for a client that comes meanwhile; beyond, it gets what comes after that. */
  comingChars: 262_144,
  /** Characters of what a running call has printed, for a client that follows closely; beyond, the last ones. */
  printedChars: 2_000,
  /**
   * Log lines kept for a later reader, and queued for a current one. Beyond: the oldest kept, the newest queued are
   * dropped.
   */
  logEntries: 256,
  /**
   * Lines and characters of a process's log that the journal stores per daemon; then one line says that the rest is not
   * stored.
   */
  journalLogLines: 10_000,
  journalLogChars: 4 * 1024 * 1024,
  /** Characters of a message to a session, and of a reply, in its log: the context has all of it. */
  logTextChars: 2_000,
  /** How long an unattended idle session stays in memory if no setting says. */
  sessionRestMs: 600_000,
  /** Characters of a title given by the user, and of one made of the first words. */
  titleChars: 200,
  firstWordsChars: 60,
  /** Messages of a page of a conversation, and characters shown of each. */
  historyMessages: 200,
  historyTextChars: 64 * 1024,
  /** Characters of the input of a call, which is left out beyond, and of its result; of all calls of a page, the newest first. */
  historyCallChars: 8 * 1024,
  historyMadeChars: 2 * 1024 * 1024,
  /** Bytes of a native's output that a reader of its last lines gets. */
  logTailBytes: 1024 * 1024,
  /** Files whose labels are known, by path; beyond, the least recently used are forgotten. */
  labelledFiles: 4_096,
  /** Characters of a string in a traced argument. */
  traceStringChars: 256,
  /** Messages of a fresh context, and the most that appending may grow it to by doubling. */
  contextMessages: 64,
  contextMessagesMax: 65_536,
  /** Of one view: ranges of messages, and cleared results. */
  viewRanges: 4_096,
  viewClears: 16_384,
  /** Messages that every view keeps. */
  pins: 64,
  /** Characters of one message: below the journal's record limit. */
  messageChars: 900_000,
  /** Characters, in base64, of the images and documents of one message. */
  messageMediaChars: 8 * 1024 * 1024,
  /** Questions of one session shown at once; the rest wait in order. */
  openAsks: 64,
  /** Questions in the kernel, including waiting ones: beyond, the call is denied. */
  heldAsks: 4_096,
  /** How long questions wait after all clients have left, if no setting says. */
  detachedAskMs: 3_600_000,
  /**
   * Attempts of one lane at once where no setting says: at first, and the most that is learned. Further ones wait in
   * order.
   */
  laneSlots: 8,
  laneSlotsMax: 64,
  /** A lane that is closed for longer gives those who wait the server's refusal. */
  laneClosedMs: 300_000,
  /** However long a server refuses, its lane asks it again by then: a delay may be a date, or plain wrong. */
  laneAskedAgainMs: 3_600_000,
  /** Attempts that wait in one lane: beyond, UNAVAILABLE. */
  laneWaiting: 16_384,
  /** Lanes that are remembered; beyond, those that nobody uses and whose limits hold nobody back are forgotten. */
  lanes: 256,
  /** Whoever waits longer for a slot is told, and shown. */
  laneTellMs: 1_000,
  /** Calls that classifiers judge at once in the kernel; the rest wait in order. */
  classifications: 8,
  /** Descriptions that a plan may ask for, and characters of a plan. Beyond, INVALID. */
  planPrompts: 20,
  planChars: 64 * 1024,
  /** Characters of an argument kept in a journalled intent. */
  journalArgChars: 64 * 1024,
  /** Characters of a result and of an error text in the record of an exit: it must fit into any record. */
  journalResultChars: 150_000,
  journalWordsChars: 8_000,
  /** The step limit if neither flag, agent file nor settings set one. */
  defaultMaxSteps: 10,
  /** Named values that devices keep for one process, and bytes of each: beyond, INVALID. */
  keptValues: 512,
  keptValueBytes: 256 * 1024,
  /** Agents that start agents: levels below one that the user started; running children of one; running in one tree. */
  agentDepth: 5,
  agentChildren: 16,
  agentTree: 64,
  /** Agents running in the kernel. Beyond any of these but the levels, a new one waits: so many of a tree, then BUDGET. */
  agents: 1_000,
  agentQueue: 256,
  /** Agents of one tree that begin within a minute: beyond, they wait. Started in one tree within 24 hours: beyond, BUDGET. */
  agentsPerMinute: 30,
  agentSpawns: 1_000,
  /** One task that a model gives to the same agent, within ten minutes: beyond, BUDGET. So many tasks of one process are told apart. */
  sameTasks: 8,
  tasksTold: 128,
  /** The step limit of an agent that was started by its name, if its file sets none. */
  childSteps: 200,
  /** Internal forks of one process at once, beyond: UNAVAILABLE; and the text that one has beside the conversation. */
  internalForks: 2,
  forkPrefixChars: 512 * 1024,
  /** Contexts of one process: beyond, UNAVAILABLE. */
  contexts: 96,
  /** How long a client's request is known by its key: a repeat makes nothing new. */
  requestKeptMs: 24 * 3600 * 1000,
  /** Requests of which it is known what they have published; beyond, the oldest may be carried out again. */
  requestsOfEvents: 10_000,
  /** Answered questions remembered, so that a late answer gets CONFLICT; beyond, the oldest gives NOT_FOUND. */
  answeredAsks: 256,
  /** Groups of one process, members of one group: beyond, UNAVAILABLE. */
  groupsPerProcess: 16,
  groupMembers: 1_024,
  /** Bytes of one message (INVALID), messages and bytes in one box (UNAVAILABLE: nothing is stored). */
  mailBytes: 256 * 1024,
  mailboxMessages: 1_024,
  /**
   * Messages of one agent to another within a minute: beyond, UNAVAILABLE. Messages of two to each other in a row while neither
   * does anything else: then both are paused. Partners of an agent that are told apart.
   */
  mailPerMinute: 120,
  mailInRow: 50,
  mailPartners: 256,
  mailboxBytes: 16 * 1024 * 1024,
  /** Calls of one process that wait for a message: beyond, UNAVAILABLE. */
  mailboxReceivers: 256,
  /** Bytes a pipe holds; beyond, its writer waits. Writes up to `pipeAtomicBytes` are not split. */
  pipeBytes: 64 * 1024,
  pipeAtomicBytes: 4_096,
  /** Per process: beyond, UNAVAILABLE. A thread counts until it is joined, a coroutine until its body has returned. */
  threads: 32,
  coroutines: 64,
  mounts: 64,
  /** How long the end of a process waits for its threads, and for its coroutines. */
  threadGraceMs: 5_000,
  /** Children of a supervisor: beyond, INVALID. */
  supervised: 1_000,
  /** Crash reports kept of each child; beyond, the oldest is dropped. */
  crashReports: 20,
  /** Characters of a cause or reason in such a report. */
  crashWordsChars: 1_000,
  /** Grants in one session, and grants that outlive sessions: beyond either, UNAVAILABLE. */
  sessionGrants: 1_000,
  /** Characters of a rule; rules given to a new process. Beyond, INVALID. */
  ruleChars: 1_024,
  spawnRules: 2_000,
  /** Paths that a process is known to have seen; the least recently used is forgotten. */
  seenFiles: 1_000,
  /** Calls on one supervisor that wait their turn: beyond, UNAVAILABLE. */
  supervisorCalls: 64,
  /** Lines and characters kept for `logs` of each child of a project; beyond, the oldest are dropped. */
  projectLines: 1_000,
  projectLineChars: 128 * 1024,
  /** Characters of one such line; a longer one is reported in pieces. */
  lineChars: 16 * 1024,
  /** Events queued for a client that follows a project; beyond, the oldest losable ones are dropped. */
  projectEvents: 1_000,
  /** Ended projects that are remembered, and the characters of the last lines of each. */
  projectsEnded: 32,
  endedLineChars: 512 * 1024,
  /** A signal handler that takes longer is logged, and the default action happens. */
  handlerMs: 5_000,
  /** Handlers of one process running at once; beyond, the default action happens. */
  handlersRunning: 16_384,
  /** A tool may change how its process takes a signal for so long: the user must not wait longer for a TERM or INT. */
  signalsChangedMs: 120_000,
  /** A mount call returns after this long, connected or not. */
  mountWaitMs: 500,
  /** How long a server of an agent file may take to connect. */
  mountRequiredMs: 30_000,
  /** How long unmounting everything at shutdown may take. */
  unmountAllMs: 600,
  /** After a boot, until a process is read once more that a daemon stopped in: so long the others are served for certain. */
  putOffMs: 5_000,
  /** TERM, then KILL after this long. */
  termGraceMs: 10_000,
  /** The same for children that end with their parent. */
  orphanGraceMs: 5_000,
  /** The same for services at shutdown, when they are no longer needed. */
  serviceGraceMs: 2_000,
  /** TERM, then KILL after this long, for programs of the host. */
  nativeGraceMs: 5_000,
  /** Live native programs of one agent or program: beyond, BUDGET. */
  natives: 100,
  /** Named programs that have ended and whose exit and output can still be asked for. */
  nativesEnded: 1_000,
  /** Events that are kept in memory beside the journal; half of them are let go at once. */
  eventsInMemory: 10_000,
  /** After so many events a copy of what they amount to is kept, and how many such copies. */
  eventsOfSnapshot: 10_000,
  eventSnapshots: 32,
  /** Events are compacted after this age, or when so many bytes have come since the last time. Looked at once an hour. */
  eventsKeptMs: 7 * 24 * 60 * 60 * 1000,
  eventBytes: 256 * 1024 * 1024,
  eventsTidyMs: 60 * 60 * 1000,
  /** Events that stay in a range that is compacted, at most; there it ends. */
  eventsKept: 10_000,
  /** How deep intents nest: beyond, INVALID. */
  intentDepth: 16,
  /** An intent of the user about which nothing has happened for so long is abandoned. */
  intentIdleMs: 24 * 60 * 60 * 1000,
  /** Claims of devices of one process, or of one connection of the user: beyond, UNAVAILABLE. */
  claims: 32,
  /** How often what a program with a limit uses is measured, in ms. */
  useLookMs: 100,
  /** Words and bytes of a command: beyond, INVALID. */
  commandWords: 4_096,
  commandBytes: 128 * 1024,
  /** How long reaping waits for a program that does not return. */
  loopGraceMs: 5_000,
  /** A child of the kernel stays a zombie this long, so that `ps` shows it. */
  zombieMs: 60_000,
  /** So many of them at once; then the oldest is reaped. */
  zombies: 128,
} as const;
