/**
 * All that the interactive terminal says in words of its own, in English: the type of every other language. What a model or
 * a command says is shown as it came; what the daemon says is worded anew where it is known.
 */

import type { CountUnit } from "../../../abi/call-note.ts";
import type { WireError } from "../../../abi/errors.ts";
import type { Fact } from "../../../abi/fact.ts";
import type { WireBrought } from "../../../abi/methods/trust.ts";
import { PANEL_HINTS } from "../../../abi/panel/keys.ts";
import { english, type Said } from "../../../abi/sentence.ts";
import { counted } from "../../../lib/text/counted.ts";
import { retryWords, slotWords, switchWords } from "../../../lib/text/model-words.ts";
import { viewWords } from "../../../lib/text/view-words.ts";
import { nextStep, printedWire } from "../../../wire/codec/error.ts";
import { type Language, wordsIn } from "../text/language.ts";
import { enHelp } from "./en-help.ts";

type BroughtKind = WireBrought["kind"];

const PLURALS: Readonly<Record<CountUnit, string>> = {
  line: "lines",
  match: "matches",
  file: "files",
  changed: "changed",
  entry: "entries",
  page: "pages",
  cell: "cells",
  result: "results",
  task: "tasks",
  tool: "tools",
};

const KINDS: Readonly<Record<BroughtKind, string>> = {
  settings: "settings",
  server: "MCP server",
  agent: "agent",
  skill: "skill",
  command: "command",
  hook: "hook",
  instructions: "instructions",
  environment: "environment",
  compose: "compose file",
};

function kindWord(kind: BroughtKind, count: number): string {
  if (kind === "settings") return "settings";
  if (kind === "instructions") return count === 1 ? "file of instructions" : "files of instructions";
  return count === 1 ? KINDS[kind] : `${KINDS[kind]}s`;
}

export const en = {
  language: "en" as Language,

  modeLine: {
    modes: {
      plan: "plan",
      dont_ask: "don't ask",
      default: "default",
      accept_edits: "accept edits",
      auto: "auto",
      bypass: "bypass",
    },
    vim: { insert: "INSERT", normal: "NORMAL", visual: "VISUAL", "visual line": "VISUAL LINE" },
    connecting: "connecting …",
    searches: (words: string) => `search: ${words} · ctrl+r older`,
    context: (percent: number) => `${percent}% context`,
    toEditor: "keys go to the editor until you pause",
    shell: "your shell runs it, the model reads its output",
    hint: "shift+tab mode · /help",
    leaving: "ctrl+c again leaves; the session stays",
    backAgain: "esc again: go back to a step",
    clears: "ctrl+c clears",
    untrustedStatus: "statusline skipped · /trust",
  },

  live: {
    lost: "the daemon is gone; reconnecting …",
    paused: "paused",
    tokens: (count: string) => `${count} tokens`,
    toInterrupt: "esc to interrupt",
    runs: (tool: string) => `runs ${tool}`,
    runsMany: (count: number) => `runs ${count} calls`,
    answers: "answers",
    thinks: "thinks",
    moreWait: (count: number) => `${count} more wait`,
    rowsAbove: (count: number) => `${counted(count, "row")} above · PgUp Home`,
    rowsBelow: (count: number) => `${counted(count, "row")} below · PgDn End`,
    questionWaits: "a question waits: esc",
    questionsWait: (count: number) => `${counted(count, "more question")}`,
    reading: "reading …",
    forkAgain: "f again: a new session begins here",
    more: (count: number) => `+${count} more`,
    linesMore: (count: number) => `… ${count} lines more`,
  },

  panel: {
    hints: PANEL_HINTS,
    waits: (count: number) => (count === 1 ? "1 waits for you" : `${count} wait for you`),
    tokens: "tokens",
    main: "main",
    atWork: (count: number) => (count === 1 ? "1 agent works" : `${count} agents work`),
    over: (count: number) => `${count} ended`,
    list: "↓ lists",
    background: "background",
    asksYou: "asks you",
    stop: "x stop",
    clear: "x clear",
    status: {
      queued: "queued",
      running: "running",
      completed: "completed",
      failed: "failed",
      killed: "killed",
    },
    activity: {
      thinking: "thinking",
      tool: "tool",
      waiting: "waiting",
      idle: "idle",
      blocked: "blocked",
      paused: "paused",
    },
  },

  entry: {
    hidden: (count: number) => `… ${count} lines more; ctrl+o shows them …`,
    running: "running · esc ends it",
    /** Below a question beside the conversation. */
    asked: "beside the conversation · esc ends it",
    exit: (exit: string) => `exit ${exit}`,
    refused: "refused",
    refusedFor: (why: string) => `refused: ${why}`,
    interrupted: "interrupted",
    brokeOff: "this answer broke off and begins anew; the model does not see what is above",
    interruptedReply: "interrupted; the model does not see what it had begun to say",
    process: (pid: number) => `process ${pid}`,
    otherClient: "another client",
    outcome: { completed: "completed", interrupted: "interrupted", failed: "failed", limit: "limit" },
  },

  /** The end of the line of a call. */
  call: {
    refused: "refused",
    failed: "failed",
    count: (count: number, unit: CountUnit) => `${count} ${count === 1 ? unit : PLURALS[unit]}`,
    done: (count: number, of: number) => `${count} of ${of} done`,
    exit: (code: number) => `exit ${code}`,
    endedBy: (signal: string) => `ended by ${signal}`,
    runsOn: (job: string) => `runs on as ${job}`,
  },

  /** Events of the session and its model. */
  session: {
    retry: retryWords,
    slot: slotWords,
    change: switchWords,
    shortened: viewWords,
    paused: (pid: number) => `paused; crux cont ${pid} resumes it`,
    resumed: "resumed",
    ended: (summary: string, time: string, tokens: number) => `${summary} · ${time} · ${tokens} tokens`,
    states: {
      running: "running",
      waiting: "waiting",
      blocked: "blocked",
      paused: "paused",
      resting: "resting",
      ended: "ended",
    },
    messages: (count: number) => counted(count, "message"),
    tokens: (count: number) => counted(count, "token"),
    left: (pid: number, isRunning: boolean) =>
      `PID ${pid} ${isRunning ? "continues" : "waits"}; crux -r ${pid}`,
    sandboxOff: (why: string) => `sandbox: off (${why})`,
    folderGone: (cwd: string) => `its folder is gone: ${cwd}`,
    statusLine: (why: string) => `status line: ${why}`,
    /** What a bell says. */
    questionWaits: "a question waits for you",
    answered: "the answer is there",
    withMore: (words: string, count: number) => `${words} (${count} more)`,
  },

  /** What keys and slash commands answer. */
  act: {
    renameNeeds: "/rename needs words",
    named: (title: string) => `named ${title}`,
    emptied: (before: number, after: number) =>
      `the model's view is empty: ${before} tokens before, ${after} now; crux context undo takes it back`,
    summarising: "The model writes a summary, at its next step …",
    shortened: (before: number, after: number) =>
      `${before} tokens before, ${after} now; crux context undo takes it back`,
    noSkill: (name: string, others: string) =>
      `no skill or command /${name}; nothing was sent.${others === "" ? "" : ` Near: ${others}.`}`,
    notHere: (name: string, instead: string) => `/${name} does not exist; nothing was sent. ${instead}`,
    folders: (paths: string) => `works in ${paths}`,
    sandbox: (kind: string) => `commands run in a sandbox${kind === "" ? "" : ` (${kind})`}`,
    noFolder: (path: string) => `no such folder: ${path}`,
    reloaded: (skills: number) => `read again: ${counted(skills, "skill")}, settings and keys`,
    mode: (mode: string, ceiling: string) => `${mode} mode (may ask for up to ${ceiling})`,
    noneWaits: "no message of yours waits",
    wasRead: "it was read meanwhile, and stays sent",
    tooLong: (count: number, most: number) =>
      `the message has ${count} characters, of at most ${most}: save it as a file, and name that with @`,
    noPicture: "no picture in the clipboard",
    noClipboard: (readers: string) =>
      `the clipboard cannot be read here: one of ${readers} is needed; a pasted path of a picture works without`,
    noEditor: "set EDITOR or VISUAL to edit there",
    noAnswer: "no such answer",
    copied: (count: number) => `copied ${counted(count, "character")}`,
    themes: (names: string) => `themes: ${names}`,
    noTheme: (name: string, names: string) => `no theme ${name}; themes: ${names}`,
    languages: (now: string, names: string) => `language: ${now}; languages: ${names}`,
    noLanguage: (name: string, names: string) => `no language ${name}; languages: ${names}`,
    efforts: (levels: string) => `/effort takes one of ${levels}`,
    effort: (level: string) => `effort: ${level}, from the next run on`,
    noEffort: (model: string) => `${model || "this model"} takes no effort`,
    ownKeys: "of your keys.json:",
    asideNeeds: "/btw needs a question",
    asideRuns: "another question is being answered; esc ends it",
    lineRuns: "a shell line is running; esc ends it",
    needsProcess: (name: string) => `/${name} needs the pid or name of a process`,
    needsCommand: "! needs a command, which your shell runs",
    noMode: (name: string, names: string) => `no such mode: ${name}; modes: ${names}`,
    nothingSaid: (pid: number) => `PID ${pid} is not an agent: it has said nothing`,
    noStepThere: "no step is complete there: there is nothing to go back to",
    sameSession: "this is that session",
    noSession: "no session yet",
    beginOne: "crux chat begins one",
    changedSince: (files: string) => `changed by somebody else since, nothing was touched: ${files}`,
  },

  /** The whole screens. */
  view: {
    hits: (count: number, query: string) => `${counted(count, "line")} with “${query}”`,
    transcriptKeys: "q leave · / search · y copy · f fork · r rewind · g G { }",
    filter: "type to filter",
    sessionsOf: (cwd: string) => `Sessions of ${cwd}`,
    allSessions: "Sessions of every folder",
    sessionKeys: "↑ ↓ choose · Enter resume · Tab all folders · Esc leave",
    allSessionKeys: "↑ ↓ choose · Enter resume · Tab this folder · Esc leave",
    noSessionFits: "no session has all of these words",
    branch: (name: string) => `branch ${name}`,
    rewind: "Go back to a step",
    rewindBefore: "Go back to before a message of yours",
    rewindKeys: "↑ ↓ choose · Enter go on · Esc leave",
    promptKeys: "↑ ↓ choose · Enter go on · Tab every step · Esc leave",
    stepKeys: "↑ ↓ choose · Enter go on · Tab your messages · Esc leave",
    noPromptFits: "no message has all of these words",
    noStep: "no step is complete: there is nothing to go back to",
    noStepFits: "no step fits",
    beforeFirst: "(before the first reply)",
    files: (count: number) => counted(count, "file"),
    commands: (count: number) => counted(count, "command"),
    extent: (step: number) => `What goes back to step ${step}?`,
    extentBefore: (prompt: string) => `What goes back to before “${prompt}”?`,
    extentKeys: "↑ ↓ choose · Enter goes back · Esc leave",
    extents: { talk: "the conversation", both: "the conversation and the files", files: "the files alone" },
    nothingFits: "nothing fits",
    filesStay: "The files stay as they are. A new session begins there; this one stays as it is.",
    refused: "Others have changed some of them since: the files do not go back without crux rewind --force.",
    noChange: "No file would change.",
    notBegun: "it has not said anything yet",
  },

  diff: {
    deeds: { removed: "new", restored: "changed", recreated: "deleted", kept: "changed" },
    none: "no file was changed by tools",
    commands: (names: string) => `not listed: what commands changed (${names})`,
  },

  rewind: {
    deeds: {
      restored: "restored",
      recreated: "recreated",
      removed: "removed",
      unchanged: "unchanged",
      kept: "kept",
    },
    continues: (pid: number, place: string, fork: number) =>
      `PID ${pid} at ${place} continues as PID ${fork}, which rests; crux -r ${fork}`,
    ran: (count: number, names: string) =>
      `${count === 1 ? "1 command ran" : `${count} commands ran`} since, and what they changed is not put back: ${names}`,
    andMore: (count: number) => `and ${count} more`,
    record: (seq: number) => `record ${seq}`,
    step: (step: number) => `step ${step}`,
  },

  /** The last line of the live table of processes. */
  top: {
    filter: "(Enter keeps it, Esc shows all)",
    signal: (pid: number) =>
      `signal to PID ${pid}: 1 TERM  2 KILL  3 INT  4 PAUSE  5 RESUME   (any other key: none)`,
    budget: (pid: number) => `limit of PID ${pid} and all below it, in US dollars:`,
    budgetKeys: "(Enter sets it, Esc does not)",
    by: (sort: string) => `by ${sort}`,
    tree: "tree",
    keys: "s sort  t tree  a all  / find  p pause  r cont  k signal  b budget  Enter attach  q quit",
    /** Where Enter opens the process in the same terminal. */
    keysInside: "s sort  t tree  a all  / find  p pause  r cont  k signal  b budget  Enter open  q back",
  },

  login: {
    lead:
      "No model is set up. Type the key of a provider: one small call tries it, then it is stored for you alone.\n" +
      "Esc: without a model; the built-in interpreter answers.",
    provider: (names: string) => `Provider (${names}): `,
    baseUrl: "Base URL (empty: the provider's own): ",
    key: "Key: ",
    trying: (driver: string) => `${driver}: one small call tries the key …`,
    stored: (driver: string, end: string, place: string, check: string) =>
      `${driver}: key …${end} stored in ${place} (${check})`,
    keychain: "the keychain",
    answered: (tokens: number) => `a test call was answered, ${counted(tokens, "token")}`,
    noModel: "no model of this provider was found",
    failed: (why: string) => `the key was not stored: a test call failed: ${why}`,
    failedHint: "check the key and --base-url; --no-check stores it untried",
    unknown: (name: string) =>
      name === ""
        ? "type the name of a provider"
        : name.startsWith("/")
          ? "commands work behind this question: Esc leaves it"
          : `not a provider that takes a key: ${name}`,
    providers: (names: string) => `providers: ${names}`,
    notUrl: "not a base URL: http:// or https://, then the name of the server",
    notKey: "that is not a key: at least 8 characters, without blanks",
    environment: (key: string, baseUrl: string) =>
      `${key} or ${baseUrl} is set in this terminal, so the stored key is not used from here`,
    ways: [
      "  → crux auth login  (type a key of Anthropic, OpenAI, Gemini or xAI; it is tried, then stored: docs/models.md)",
      "  → export ANTHROPIC_API_KEY=…  (Claude)",
      "  → export OPENAI_API_KEY=…  (OpenAI; with OPENAI_BASE_URL=… also Ollama, vLLM, DeepSeek)",
      "  → npm install -g @anthropic-ai/claude-code, then run claude once and log in",
    ] as readonly string[],
  },

  /** An error: what happened, behind its code, and what to type next. */
  faults: {
    hint: wordsIn("en").hint,
    said: (wire: WireError): string => printedWire(wire),
    next: (fact: Fact): string | undefined => nextStep(fact),
  },

  /** Questions of the gate, and of agents. */
  ask: {
    /** A sentence of the daemon: a reason, a warning, what a sandbox allows. */
    said: english as (said: Said) => string,
    allow: (what: string) => `allow ${what}?`,
    question: (what: string) => `${what}?`,
    options: { yes: "[y]es", no: "[n]o", always: "[a]lways" },
    amount: "another [a]mount",
    tell: "no, [t]ell why",
    edit: "[e]dit",
    viewAll: "[v]iew all",
    editShows: "e shows all of it, to be edited or left",
    byEnter: (answer: string) => `${answer} (Enter)`,
    /** What stands behind the question once a key was pressed. */
    taken: { yes: "yes", no: "no", always: "always", tell: "tell", edit: "edit", view: "view" },
    planModes: {
      default: "yes, in [d]efault mode",
      accept_edits: "yes, a[c]cept edits",
      auto: "yes, a[u]to mode",
    } as Readonly<Partial<Record<string, string>>>,
    because: "  no, because: ",
    raise: "  raise it by (2usd, 50000): ",
    alwaysAllow: (rule: string) => `  always allow ${rule}`,
    keepFor: (places: string) => `  keep it for: ${places}; [e]dit the rule; Esc: back `,
    places: {
      session: "[s]ession",
      localSettings: "[l]ocal settings of the project",
      projectSettings: "[p]roject settings",
      userSettings: "[u]ser settings",
    },
    rule: "  rule, as narrow as you like: ",
    elsewhere: (answer: string) => `(answered elsewhere: ${answer})`,
    void: "(no longer needed)",
    gone: "(already answered, or no longer needed)",
    by: (path: string) => `by ${path}`,
    why: (reason: string) => `why: ${reason}`,
    sandbox: (words: string) => `sandbox: ${words}`,
    hasRead: (label: string) => `it has read ${label}`,
    parts: { allow: "allowed", ask: "asks", deny: "denied" },
    linesMore: (count: number) => `… ${count} lines more …`,
    charactersMore: (count: number) => `… ${count} characters more …`,
    arguments: "arguments",
    notObject: "the arguments must be one JSON object",
    notJson: (why: string) => `the arguments are not JSON: ${why}`,
    ofMany: (at: number, count: number) => ` (${at} of ${count})`,
    oneHint: (numbers: string) => `${numbers} or ↑ ↓, or your own words; Esc dismisses: `,
    manyHint: (numbers: string) =>
      `${numbers}, or ↑ ↓ and space, mark; Enter ends, or your own words; Esc dismisses: `,
    dismissed: "(dismissed)",
    none: "none",
  },

  trust: {
    brings: (root: string) => `${root} brings what you have not trusted:`,
    bringsNothing: (root: string) => `${root} is not trusted. Nothing in it would act now.`,
    meaning: "Without your trust agents work here, and none of this acts. What it forbids holds in any case.",
    asks: "Trust it as it is now?",
    asksForNow: "Trust it as it is now until the last process there has ended (h: for an hour)?",
    yes: "yes",
    hour: "for an hour",
    no: "no",
    kinds: KINDS,
    changed: "changed",
    holds: "only forbids, holds already",
    counted: (count: number, kind: BroughtKind) => `${count} ${kindWord(kind, count)}`,
    andMore: (count: number, kinds: string) => `  and ${count} more: ${kinds}`,
    leftOut: (isChanged: boolean, what: string, root: string) =>
      `left out, ${isChanged ? "changed since you trusted it" : "not trusted"}: ${what}. To look and to trust: crux trust ${root}`,
  },

  /** Keys and commands of /help; commands also below the editor. */
  help: enHelp,

  /** A conversation in lines. */
  lines: {
    help: [
      "  /exit            leave; the session waits (also Ctrl-D, or Ctrl-C twice)",
      "  /stop            end what it does now (also Ctrl-C)",
      "  /back            take back your last message that has not been read",
      "  /title <words>   name the session",
      "  /mode [<mode>]   what it may do without asking (also Shift-Tab); /plan is /mode plan",
      "  /model [<name>]  the model that answers your next message",
      "  /context         what the model sees, and what each part costs",
      "  /compact [text]  let a summary take the place of what was said; crux context undo takes it back",
      "  /btw <question>  a question beside the conversation, which has nothing of it; Ctrl-C ends it",
      "  /cost            what was spent, and on what; /todo: the tasks",
      "  /sessions        those of this folder",
      "  /<skill> <args>  use a skill: crux skills lists them",
      "  !<command>       your shell runs it; the model reads it with your next message",
      "  //text           a message that begins with /",
      "  Alt-Enter        a line break in a message",
    ] as readonly string[],
    leaving: "Ctrl-C again, or Ctrl-D, leaves; the session waits",
    noSessions: "No sessions in this folder.",
    others: "/help lists what line mode has; crux help, in another shell, has the rest.",
    titleNeeds: "/title needs words",
    noWords: (name: string) => `/${name} takes no words; //${name} sends it`,
    readToo: "read too: ",
    client: (name: string) => `client ${name}`,
    nextStep: "is read at the next step",
    ahead: (count: number) => `waits, ${count} ahead`,
    takenBack: "taken back",
    waiting: (count: number) => `${count} waiting`,
    tokens: "tokens",
    elapsed: "elapsed",
  },
};

export type Phrases = typeof en;
