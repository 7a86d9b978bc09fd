/**
 * What a call removes or overwrites for good, by name: after a summary has taken the place of what the model has seen, the
 * gate wants these names to be seen again first. Pure, and no wall: rules and the sandbox say what may happen at all.
 */
import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import type { Destroyed } from "../../kernel/ports/permit.ts";
import type { Part } from "../shell/unfold.ts";
import { programOf, type Word } from "../shell/word.ts";
import type { Places } from "./case.ts";
import { analysisOf } from "./exec.ts";

const REMOVERS: ReadonlySet<string> = new Set("rm rmdir unlink shred truncate".split(" "));
const CONTAINERS: ReadonlySet<string> = new Set("docker podman kubectl helm".split(" "));
const REMOVING = /^(?:delete|rm|rmi|uninstall|prune)$/;
const DROPS =
  /\b(?:drop|truncate)\s+(?:table|database|schema|view|index)\s+(?:if\s+exists\s+)?["'`[]?([\w.$-]+)/gi;
const NO_NAME = /^(?:|\.{1,2}|~|-|HEAD.*|@.*|.*[*?[{].*)$/;

/** null: nothing. */
export function destroyedBy(
  places: Pick<Places, "home" | "realPath">,
  effects: readonly Effect[],
): Destroyed | null {
  const words = effects.flatMap((effect) => {
    if (effect.kind === "write") return effect.change === "delete" ? [effect.path] : [];
    return effect.kind === "exec" ? analysisOf(places, effect).parts.flatMap(aimsOf) : [];
  });
  if (words.length === 0) return null;
  const names = words.map((word) => (word === null ? null : nameOf(word)));
  const targets = [...new Set(names.filter((name) => name !== null))];
  return { targets, isOpen: names.includes(null) };
}

/** The last segment of a path, as it would be listed; null: none that a listing shows. */
function nameOf(word: string): string | null {
  const name = posix.basename(word);
  return NO_NAME.test(name) ? null : name;
}

/** null: something that is known only when it runs. */
type Aim = string | null;

function aimsOf({ levels, filled, isOpen }: Part): readonly Aim[] {
  const argv = filled ?? levels.at(-1) ?? [];
  const name = posix.basename(programOf(argv) ?? "");
  const args = argv.slice(1).map((word: Word) => word.text);
  const dropped = args.flatMap((arg) => [...(arg ?? "").matchAll(DROPS)].map(([, table = ""]) => table));
  const aims = [...dropped, ...removedBy(name, args)];
  return aims.length > 0 && isOpen && filled === undefined ? [...aims, null] : aims;
}

function removedBy(name: string, args: readonly Aim[]): readonly Aim[] {
  if (REMOVERS.has(name)) return orOpen(operandsOf(args).filter((arg) => !/^[\d.]+[KMGT]?$/.test(arg ?? "")));
  if (name === "find" && args.includes("-delete")) {
    const end = args.findIndex((arg) => arg === null || /^[-(!]/.test(arg));
    return orOpen(args.slice(0, end));
  }
  if (name === "dd") return args.flatMap((arg) => (arg?.startsWith("of=") === true ? [arg.slice(3)] : []));
  if (name === "git") return byGit(args);
  if (!CONTAINERS.has(name)) return [];
  const verb = args.findIndex((arg) => REMOVING.test(arg ?? ""));
  return verb < 0 ? [] : orOpen(operandsOf(args.slice(verb + 1)));
}

function byGit(args: readonly Aim[]): readonly Aim[] {
  const at = args.findIndex((arg, i) => !/^-/.test(arg ?? "") && !/^-[Cc]$/.test(args[i - 1] ?? ""));
  const [command, rest] = [args[at], args.slice(at + 1)];
  const operands = operandsOf(rest);
  const has = (flag: RegExp): boolean => rest.some((arg) => flag.test(arg ?? ""));
  switch (command) {
    case "push": {
      const refs = operands.slice(1);
      const isForced = has(/^(?:-[a-z]*[fd][a-z]*|--force.*|--delete|--mirror|--prune)$/) || has(/^[+:]./);
      return isForced ? orOpen(refs.map((ref) => ref?.replace(/^\+?(?:.*:)?/, "") ?? null)) : [];
    }
    case "reset":
      return has(/^--hard$/) ? orOpen(operands) : [];
    case "clean":
      return has(/^(?:-[a-zA-Z]*f[a-zA-Z]*|--force)$/) ? orOpen(operands) : [];
    case "branch":
    case "tag":
      return has(/^(?:-[a-zA-Z]*[dD]|--delete)$/) ? orOpen(operands) : [];
    case "checkout":
      return has(/^--$/) ? orOpen(rest.slice(rest.indexOf("--") + 1)) : [];
    case "restore":
      return has(/^(?:-S|--staged)$/) ? [] : orOpen(operands);
    case "stash":
      return has(/^(?:drop|clear)$/) ? orOpen(operands.slice(1)) : [];
    case "worktree":
      return has(/^remove$/) ? orOpen(operands.slice(1)) : [];
    default:
      return [];
  }
}

/** What is no flag; all of it after `--`. */
function operandsOf(args: readonly Aim[]): readonly Aim[] {
  const end = args.indexOf("--");
  const [before, after] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  return [...before.filter((arg) => arg === null || !arg.startsWith("-")), ...after];
}

function orOpen(aims: readonly Aim[]): readonly Aim[] {
  return aims.length === 0 ? [null] : aims;
}
