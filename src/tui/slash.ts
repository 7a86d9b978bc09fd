/** The slash commands: what each does, from a table. Those of the command line run as they are, for this session. */
import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../abi/process.ts";
import { padToWidth } from "../cli/screen/text/width.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { slashLine } from "../lib/slash.ts";
import { nearNames } from "../lib/text/near-names.ts";

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
  | "btw"
  | "compact"
  | "clear"
  | "theme"
  | "copy"
  | "keys"
  | "lang"
  | "effort"
  | "diff"
  | "add-dir"
  | "permissions"
  | "reload"
  | "sandbox"
  | "vim";

export type ViewName = "transcript" | "resume" | "rewind" | "top";

type Does = (text: string, pid: string, words: Phrases) => Slash;

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
  (name: string, verb: string): Does =>
  (text, _pid, { act: words }) =>
    text === "" ? { kind: "refused", message: words.needsProcess(name) } : run(verb)(text);

/** What each does; what is said of it stands in the catalogue. */
const ROWS: Readonly<Record<keyof Phrases["help"]["commands"], Does>> = {
  "add-dir": act("add-dir"),
  agents: run("agents"),
  back: act("back"),
  // of the session all that it waits for, unless one is named
  bg: (text, pid) => run("bg")(text === "" ? pid : text),
  btw: act("btw"),
  budget: (text, pid) =>
    /^\$?\d[\d.]*$/.test(text)
      ? run("budget", "set")(`${pid} --usd ${text}`)
      : ofSession("budget")(text, pid),
  clear: act("clear"),
  compact: act("compact"),
  config: run("config"),
  context: ofSession("context"),
  continue: process("continue", "cont"),
  copy: act("copy"),
  cost: run("cost"),
  diff: act("diff"),
  doctor: run("doctor"),
  effort: act("effort"),
  exit: act("exit"),
  export: exportSlash,
  "force-snip": ofSession("context", "snip"),
  // words are what the new one is told
  fork: (text, pid) =>
    text === "" || text.startsWith("-")
      ? ofSession("fork")(text, pid)
      : { kind: "run", argv: ["fork", pid, "-m", text] },
  help: act("help"),
  init: run("init"),
  jobs: run("jobs"),
  keys: act("keys"),
  lang: act("lang"),
  login: run("auth", "login"),
  logout: run("auth", "logout"),
  mcp: run("mcp", "list"),
  memory: (text, pid) => (/^o(?:ff|n)$/.test(text) ? run("memory", text)(pid) : run("memory")(text)),
  mode: (text, _pid, words) => modeSlash(text, words),
  model: (text, pid) =>
    (/^(?!(?:list|set|show)\b)[^\s-]\S*$/.test(text) ? ofSession("model") : run("model"))(text, pid),
  now: act("now"),
  pause: process("pause", "pause"),
  permissions: (text) => (text === "" ? act("permissions")("") : run("grants")(text)),
  pin: ofSession("context", "pin"),
  plan: (text) => ({ kind: "mode", mode: "plan", text }),
  ps: run("ps"),
  reload: act("reload"),
  rename: act("rename"),
  resume: view("resume"),
  rewind: (text, pid) =>
    text === "" ? view("rewind")("") : ofSession("rewind")(text.replace(/^(?=\d+$)/, "--at "), pid),
  sandbox: act("sandbox"),
  send: process("send", "send"),
  skills: run("skills"),
  stop: (text) => (text === "" ? act("stop")("") : run("stop")(text)),
  theme: act("theme"),
  // those of the session; a name: of another list
  todo: (text, pid) => run("tasks")(text === "" ? pid : text),
  top: view("top"),
  trace: view("transcript"),
  trust: run("trust"),
  tree: run("tree"),
  vim: act("vim"),
};

/** Into a file: a long conversation would only repeat itself in the transcript. A word is its name, `-o -` shows it. */
function exportSlash(text: string, pid: string): Slash {
  const words = wordsOf(text);
  const isNamed = words.some((word) => /^(?:-o|--output)/.test(word));
  const [first = "-"] = words;
  const file = isNamed
    ? words
    : first.startsWith("-")
      ? ["-o", `conversation-${pid}.md`, ...words]
      : ["-o", ...words];
  return { kind: "run", argv: ["export", pid, ...file] };
}

/** Other names of the same commands. */
const ALIASES: Readonly<Record<string, string>> = {
  ...{ quit: "exit", title: "rename", sessions: "resume", tasks: "todo", transcript: "trace", "?": "help" },
};

export interface Offer {
  readonly name: string;
  readonly about: string;
}

function commandsIn({ help }: Phrases): readonly Offer[] {
  return Object.entries(help.commands).map(([name, about]) => ({ name, about }));
}

/** undefined: nothing was typed. */
export function slashOf(line: string, pid: number, words: Phrases): Slash | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (text.startsWith("!")) return shellSlash(text.slice(1).trim(), words);
  const called = slashLine(text);
  // with both slashes, so that it is not read as a call of a skill
  if (called === undefined) return { kind: "say", text: line.trimEnd() };
  const name = Object.hasOwn(ALIASES, called.name) ? (ALIASES[called.name] ?? "") : called.name;
  if (Object.hasOwn(ROWS, name)) return ROWS[name as keyof typeof ROWS](called.args, String(pid), words);
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
export function offersFor(typed: string, skills: readonly Offer[], words: Phrases): readonly Offer[] {
  const [, begun] = /^\/([A-Za-z0-9_.:-]*)$/.exec(typed) ?? [];
  if (begun === undefined) return [];
  const isBegun = ({ name }: Offer) => name.toLowerCase().startsWith(begun.toLowerCase());
  return [...commandsIn(words), ...skills].filter(isBegun);
}

function shellSlash(command: string, { act: words }: Phrases): Slash {
  if (command === "") return { kind: "refused", message: words.needsCommand };
  return { kind: "shell", command };
}

function modeSlash(text: string, { act: words }: Phrases): Slash {
  const mode = text === "" ? undefined : findPermissionMode(text);
  if (text === "" || mode !== undefined) return { kind: "mode", mode, text: "" };
  return { kind: "refused", message: words.noMode(text, PERMISSION_MODES.join(", ")) };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

/** The keys, then the commands. */
export function helpText(words: Phrases): string {
  const rows = (pairs: readonly (readonly [string, string])[], columns: number): readonly string[] =>
    pairs.map(([name, about]) => `  ${padToWidth(name, columns)}${about}`);
  const commands = commandsIn(words).map(({ name, about }) => [`/${name}`, about] as const);
  return [...rows(words.help.keys, 42), "", ...rows(commands, 16), "", `  ${words.help.last}`].join("\n");
}
