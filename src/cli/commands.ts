import { nearNames } from "../lib/near-names.ts";
import type { Command } from "./command.ts";

/** The commands there are, each loaded only when it is called for. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  chat: async () => (await import("./chat.ts")).chat,
  sessions: async () => (await import("./sessions.ts")).sessions,
  keep: async () => (await import("./keep.ts")).keep,
  ps: async () => (await import("./ps.ts")).ps,
  top: async () => (await import("./top.ts")).top,
  tree: async () => (await import("./tree.ts")).tree,
  attach: async () => (await import("./attach.ts")).attach,
  wait: async () => (await import("./wait.ts")).wait,
  logs: async () => (await import("./logs.ts")).logs,
  jobs: async () => (await import("./jobs.ts")).jobs,
  tasks: async () => (await import("./tasks.ts")).tasks,
  send: async () => (await import("./send.ts")).send,
  kill: async () => (await import("./kill.ts")).kill,
  pause: async () => (await import("./pause.ts")).pause,
  cont: async () => (await import("./cont.ts")).cont,
  resume: async () => (await import("./resume.ts")).resume,
  steps: async () => (await import("./steps.ts")).steps,
  fork: async () => (await import("./fork.ts")).fork,
  rewind: async () => (await import("./rewind.ts")).rewind,
  undo: async () => (await import("./undo.ts")).undo,
  groups: async () => (await import("./groups.ts")).groups,
  signal: async () => (await import("./signal.ts")).signal,
  mode: async () => (await import("./mode.ts")).mode,
  "auto-mode": async () => (await import("./auto-mode.ts")).autoMode,
  grants: async () => (await import("./grants.ts")).grants,
  label: async () => (await import("./label.ts")).label,
  trust: async () => (await import("./trust.ts")).trust,
  replay: async () => (await import("./replay.ts")).replay,
  astrace: async () => (await import("./astrace.ts")).astrace,
  compose: async () => (await import("./compose.ts")).compose,
  budget: async () => (await import("./budget.ts")).budget,
  cost: async () => (await import("./cost.ts")).cost,
  mcp: async () => (await import("./mcp.ts")).mcp,
  mount: async () => (await import("./mount.ts")).mount,
  umount: async () => (await import("./umount.ts")).umount,
  journal: async () => (await import("./journal.ts")).journal,
  fsck: async () => (await import("./fsck.ts")).fsck,
  audit: async () => (await import("./audit.ts")).audit,
  gc: async () => (await import("./gc.ts")).gc,
  version: async () => (await import("./version.ts")).version,
  daemon: async () => (await import("./daemon.ts")).daemon,
  shutdown: async () => (await import("./shutdown.ts")).shutdown,
  help: async () => (await import("./help.ts")).help,
};

/**
 * Names the manual keeps for commands that this version has not. They never begin an intent: the same line would
 * spend tokens today and be a command tomorrow.
 */
export const RESERVED: ReadonlySet<string> = new Set(
  "stop agents export model login demo context compact memory plugin hooks commands config setup".split(" "),
);

/** The command that is one letter more, less, other or two swapped away. */
export function findNearCommand(word: string): string | undefined {
  return nearNames(word, Object.keys(COMMANDS), 1).find((name) => !isWordOfItsOwn(word, name));
}

/** Another first letter is seldom a slip (`work` is not `fork`), and another one of two is half the word. */
function isWordOfItsOwn(word: string, name: string): boolean {
  const isOther = word.length === name.length && countOther(word, name) === 1;
  return isOther && (name.length < 3 || word[0] !== name[0]);
}

function countOther(word: string, name: string): number {
  return [...name].filter((letter, at) => letter !== word[at]).length;
}
