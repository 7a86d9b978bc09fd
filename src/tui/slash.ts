/** The slash commands: what each does, from a table. Those of the command line run as they are, for this session. */
import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../abi/process.ts";
import { nearNames } from "../lib/near-names.ts";
import { slashLine } from "../lib/slash.ts";

export type Slash =
  | { readonly kind: "say"; readonly text: string }
  /** A skill or a command file, if there is one of this name. */
  | { readonly kind: "skill"; readonly text: string }
  | { readonly kind: "run"; readonly argv: readonly string[] }
  | { readonly kind: "mode"; readonly mode: PermissionMode | undefined; readonly text: string }
  | { readonly kind: "do"; readonly name: Doing; readonly text: string }
  /** A view of the whole screen. */
  | { readonly kind: "view"; readonly name: ViewName; readonly text: string }
  /** For the user's shell. */
  | { readonly kind: "shell"; readonly command: string }
  | { readonly kind: "refused"; readonly message: string };

type Doing =
  | "help"
  | "exit"
  | "stop"
  | "now"
  | "back"
  | "rename"
  | "compact"
  | "clear"
  | "theme"
  | "copy"
  | "keys"
  | "vim";

export type ViewName = "transcript" | "resume" | "rewind" | "top";

interface Row {
  readonly about: string;
  readonly does: (text: string, pid: string) => Slash;
}

const run =
  (...argv: readonly string[]) =>
  (text: string): Slash => ({ kind: "run", argv: [...argv, ...wordsOf(text)] });
const ofSession =
  (...argv: readonly string[]) =>
  (text: string, pid: string): Slash => ({ kind: "run", argv: [...argv, pid, ...wordsOf(text)] });
const act =
  (name: Doing) =>
  (text: string): Slash => ({ kind: "do", name, text });
const view =
  (name: ViewName) =>
  (text: string): Slash => ({ kind: "view", name, text });
const process =
  (name: string, verb: string) =>
  (text: string): Slash =>
    text === ""
      ? { kind: "refused", message: `/${name} needs the pid or name of a process` }
      : run(verb)(text);

const ROWS: Readonly<Record<string, Row>> = {
  agents: { about: "agent files, and what is wrong with them", does: run("agents") },
  back: { about: "take back your last message that has not been read", does: act("back") },
  bg: { about: "agents that it waits for go on in the background", does: ofSession("bg") },
  budget: { about: "what this session may spend, and has spent", does: ofSession("budget") },
  clear: { about: "an empty view for the model; pins stay", does: act("clear") },
  compact: { about: "put a summary in place of what was said", does: act("compact") },
  config: { about: "the settings, and where each stands", does: run("config") },
  context: { about: "what the model sees, and what each part costs", does: ofSession("context") },
  continue: { about: "resume a paused process", does: process("continue", "cont") },
  copy: { about: "copy the last answer, or the n-th last", does: act("copy") },
  cost: { about: "what was spent, and on what", does: run("cost") },
  doctor: { about: "check this installation", does: run("doctor") },
  exit: { about: "leave; the session waits", does: act("exit") },
  export: { about: "the conversation as Markdown", does: ofSession("export") },
  fork: { about: "a new process from here, with the same past", does: ofSession("fork") },
  help: { about: "keys and commands", does: act("help") },
  jobs: { about: "commands in the background", does: run("jobs") },
  keys: { about: "every key by its command, and those of your keys.json", does: act("keys") },
  mcp: { about: "mounted MCP servers", does: run("mcp", "list") },
  memory: {
    about: "notes that agents keep; off or on, for this session",
    does: (text, pid) => (/^o(?:ff|n)$/.test(text) ? run("memory", text)(pid) : run("memory")(text)),
  },
  mode: { about: "what the session may do without asking", does: (text) => modeSlash(text) },
  model: { about: "the models, and which one answers", does: run("model") },
  now: { about: "interrupt, and send these words at once", does: act("now") },
  pause: { about: "pause a process", does: process("pause", "pause") },
  permissions: { about: "what you have granted", does: ofSession("grants") },
  plan: { about: "plan mode; with words, plan that", does: (text) => ({ kind: "mode", mode: "plan", text }) },
  ps: { about: "all processes", does: run("ps") },
  rename: { about: "name the session", does: act("rename") },
  resume: { about: "another session, from a list or by words of its title", does: view("resume") },
  rewind: {
    about: "go back to a step, with what would change",
    does: (text, pid) => (text === "" ? view("rewind")("") : ofSession("rewind")(text, pid)),
  },
  send: { about: "a message to a process", does: process("send", "send") },
  skills: { about: "skill files, and what is wrong with them", does: run("skills") },
  stop: {
    about: "interrupt the run; with a pid, stop that process",
    does: (text) => (text === "" ? act("stop")("") : run("stop")(text)),
  },
  theme: { about: "the colours of the terminal", does: act("theme") },
  todo: { about: "the task lists", does: run("tasks") },
  top: { about: "the processes at work, live; enter opens one", does: view("top") },
  trace: { about: "the transcript with every call in full", does: view("transcript") },
  trust: { about: "what this folder brings, and what of it you trust", does: run("trust") },
  tree: { about: "the processes as a tree", does: run("tree") },
  vim: { about: "the keys of vi in the editor, on or off", does: act("vim") },
};

/** Other names of the same commands. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ quit: "exit", title: "rename", sessions: "resume", tasks: "todo", transcript: "trace", "?": "help" },
};

export interface Offer {
  readonly name: string;
  readonly about: string;
}

const COMMANDS: readonly Offer[] = Object.entries(ROWS).map(([name, { about }]) => ({ name, about }));

/** undefined: nothing was typed. */
export function slashOf(line: string, pid: number): Slash | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (text.startsWith("!")) return shellSlash(text.slice(1).trim());
  const called = slashLine(text);
  // with both slashes, so that it is not read as a call of a skill
  if (called === undefined) return { kind: "say", text: line.trimEnd() };
  const name = Object.hasOwn(ALIASES, called.name) ? (ALIASES[called.name] ?? "") : called.name;
  if (Object.hasOwn(ROWS, name)) return ROWS[name]?.does(called.args, String(pid));
  return { kind: "skill", text };
}

/** Commands and skills of near names, for one that does not exist. */
export function nearOnes(name: string, skills: readonly string[]): readonly string[] {
  return nearNames(name, [...Object.keys(ROWS), ...skills], (known) => Math.ceil(known.length / 3)).slice(
    0,
    5,
  );
}

/** What begins as the typed line does; none once an argument is typed. */
export function offersFor(typed: string, skills: readonly Offer[]): readonly Offer[] {
  const [, begun] = /^\/([A-Za-z0-9_.:-]*)$/.exec(typed) ?? [];
  if (begun === undefined) return [];
  const isBegun = ({ name }: Offer) => name.toLowerCase().startsWith(begun.toLowerCase());
  return [...COMMANDS, ...skills].filter(isBegun);
}

function shellSlash(command: string): Slash {
  if (command === "") return { kind: "refused", message: "! needs a command, which your shell runs" };
  return { kind: "shell", command };
}

function modeSlash(text: string): Slash {
  const mode = text === "" ? undefined : findPermissionMode(text);
  if (text === "" || mode !== undefined) return { kind: "mode", mode, text: "" };
  return { kind: "refused", message: `no such mode: ${text}; modes: ${PERMISSION_MODES.join(", ")}` };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The keys, then the commands. */
export function helpText(): string {
  const keys = [
    ["enter", "send; while a run is active it waits for the next turn"],
    ["shift+enter, alt+enter, ctrl+j, \\ enter", "a line break"],
    ["ctrl+enter, /now", "interrupt and send"],
    ["↑ on an empty line", "take back what waits, else earlier messages"],
    ["ctrl+r", "the last earlier message with what you typed; again: the one before"],
    ["esc", "interrupt; twice on an empty line: go back to a step"],
    ["ctrl+c · ctrl+d", "clear, twice leave · leave"],
    ["shift+tab", "the next permission mode"],
    ["ctrl+o", "the whole transcript, with search"],
    ["! and a command", "your shell runs it, the model reads its output; esc ends it"],
    ["ctrl+b", "while it works: its agents into the background"],
    ["@ and letters of a path", "name a file; tab or enter completes it"],
    ["ctrl+g", "edit in $EDITOR"],
    ["↓ on an empty line", "the agents that work for you: enter shows one, x there stops it"],
    ["ctrl+t · shift+↓", "tasks · processes"],
  ].map(([name = "", about = ""]) => `  ${name.padEnd(42)}${about}`);
  const commands = COMMANDS.map(({ name, about }) => `  ${`/${name}`.padEnd(16)}${about}`);
  return [
    ...keys,
    "",
    ...commands,
    "",
    "  //text sends a message that begins with /; every skill is a command too",
  ].join("\n");
}
