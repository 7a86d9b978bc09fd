/** Flags of other agents' print modes: lists are read as those read them, and what has no equal here is refused by name. */
import { canonicalToolName } from "../../abi/tool.ts";
import { invalid } from "../screen/errors.ts";

/** A rule as other agents write it, or the name of a tool that they know. A word of a prompt is not one. */
const isRule = (word: string): boolean =>
  word
    .split(/,\s*(?![^(]*\))/)
    .every((each) => /^\w+\(.*\)$|^mcp__[\w*-]+$/.test(each) || canonicalToolName(each) !== each);

/** Flags that take all that follows, and how a value is told from the prompt. */
const LISTS: Readonly<Record<string, (word: string) => boolean>> = {
  "--allowedTools": isRule,
  "--allowed-tools": isRule,
  "--disallowedTools": isRule,
  "--disallowed-tools": isRule,
  "--tools": isRule,
  "--add-dir": (word) => /^\.{1,2}(?:\/|$)|^\/[^/]+\//.test(word),
  "--mcp-config": (word) => /\.json$|^\{/.test(word),
  "--debug": (word) => /^!?[a-z0-9]+(?:,!?[a-z0-9]+)+$|^!\w+$/.test(word),
};

/** `--allowedTools Read Grep` as `--allowedTools Read --allowedTools Grep`. */
export function spreadLists(argv: readonly string[]): string[] {
  const spread: string[] = [];
  let list = "";
  let isValue = false;
  for (const [at, word] of argv.entries()) {
    if (word === "--") return [...spread, ...argv.slice(at)];
    if (word.startsWith("-")) {
      [list = ""] = word.split("=", 1);
      isValue = word === list && list !== "--debug";
      spread.push(word);
    } else if (isValue || LISTS[list]?.(word) !== true) {
      if (!isValue) list = "";
      isValue = false;
      spread.push(word);
    } else spread.push(...(list === "--debug" ? [] : [list, word]));
  }
  return spread;
}

const BYPASS = "--permission-mode bypass runs without questions; see docs/permissions.md";
const SANDBOX = "commands always run in a sandbox; see docs/sandbox.md";
const THINK = "--effort says how much the model is asked to think: low, medium, high, xhigh, max";
const NO_PLUGINS = "agents and skills are read from folders: docs/write-an-agent.md, docs/write-a-skill.md";
const NO_HOOKS = "print mode has no lines of hooks";

/** What to write instead. */
const FOREIGN: Readonly<Record<string, string>> = {
  "--debug-file": "--debug 2> <file>; later: crux logs <pid>",
  "--max-thinking-tokens": THINK,
  "--thinking": THINK,
  "--thinking-display": "stream-json has the thinking of a model that shows it",
  "--betas": "features of a provider are chosen by the driver; see docs/models.md",
  "--plugin-dir": NO_PLUGINS,
  "--plugin-url": NO_PLUGINS,
  "--include-hook-events": NO_HOOKS,
  "--init": NO_HOOKS,
  "--init-only": NO_HOOKS,
  "--maintenance": NO_HOOKS,
  "--bare":
    "--agent none is an agent without instructions of its own; a folder brings nothing before you trust it",
  "--safe-mode": "a folder brings nothing before you trust it",
  "--disable-slash-commands": "--deny skill keeps the agent from calling skills",
  "--resume-session-at": "crux fork <pid> --at <step>, then -r its pid",
  "--rewind-files": "crux rewind <pid> --files",
  "--from-pr": "-r takes a session of this machine",
  "--teleport": "-r takes a session of this machine",
  "--remote": "start crux -p on the other machine: ssh <host> crux -p",
  "--ide": "crux acp serves an editor; see docs/editors.md",
  "--chrome": "no browser belongs to Crux; an MCP server may bring one",
  "--file": "name the file in the prompt: the agent reads it",
  "--image": "with --input-format stream-json a message has image blocks; see docs/print-mode.md",
  "--yolo": BYPASS,
  "--full-auto": "--permission-mode acceptEdits, with --allow 'bash(…)' for commands",
  "--approval-mode": "--permission-mode: default, acceptEdits, plan, auto, bypass",
  "--ask-for-approval": "-p asks nobody; --permission-mode says what passes",
  "--sandbox": SANDBOX,
  "--skip-git-repo-check": "leave it out: no repository is needed",
  "--ephemeral": "--no-session-persistence",
  "--output-last-message": "crux -p … > <file>",
  "--output-schema": "--json-schema <file>",
  "--include-directories": "--add-dir <dir>, as often as needed",
  "--all-files": "name the files in the prompt: the agent reads them",
  "--cd": "--cwd <dir>",
};

/** INVALID: a flag that would be lost, or mean something else. */
export function refuseForeign(argv: readonly string[]): void {
  for (const word of argv) {
    if (word === "--") return;
    const [name = ""] = word.split("=", 1);
    if (Object.hasOwn(FOREIGN, name)) throw invalid(`${name} is not a flag of crux`, FOREIGN[name]);
  }
}
