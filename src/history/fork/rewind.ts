/**
 * Restores files as they were at a point of a process's history. All files are checked first; if something else has
 * changed any of them, none is touched (unless forced). Then each file is replaced atomically, and its replaced content
 * is kept like
 * that of any other change, so that a rewind can be undone, and an interrupted one repeated.
 */

import { dirname } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { codeOf, messageOf } from "../../abi/errors.ts";
import { asCallId, PID_KERNEL } from "../../abi/ids.ts";
import { ALL_RIGHTS } from "../../abi/rights.ts";
import { Account } from "../../kernel/account/account.ts";
import type { EntryWord } from "../../kernel/gate/host-files.ts";
import { type FileAccess, HostFiles, type Look } from "../../kernel/gate/host-files.ts";
import type { FileRewound, Rewound } from "../../kernel/ports/forks.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { Process } from "../../kernel/process/process.ts";
import { Session } from "../../kernel/process/session.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { isWithin } from "../../lib/path.ts";
import { lineCounts } from "../../lib/text/line-counts.ts";
import { type Decision, decide, FileHistory, MAX_SNAPSHOTS, type PathHistory } from "./file-history.ts";
import type { Origin } from "./fork.ts";
import { forkError } from "./fork-error.ts";
import { recordsOfLineage } from "./lineage.ts";
import type { ResolvedPoint } from "./place.ts";
import { keepBy, keepFile, type Snapshotting, wordOf } from "./snapshot.ts";

/** Larger texts are restored too, but their changed lines are not counted. */
const TEXT_BYTES = 1024 * 1024;
const TOOL = "rewind";

/** What restoring files needs of the kernel. */
/** What rewinding files needs of the kernel. */
export interface Rewinding extends FileAccess, Snapshotting {
  readonly ports: Pick<KernelPorts, "clock" | "env" | "journal" | "nonce" | "permitFor" | "realPath">;
  readonly table: Pick<ProcessTable, "get">;
}

/** The decision about one path, and the state it was based on. */
interface Plan extends Decision {
  readonly history: PathHistory;
  readonly now: Look;
}

export type FilesRewound = Pick<Rewound, "files" | "conflicts" | "commands" | "commandCount">;

/** NOT_FOUND: the file history does not reach back that far. PERMISSION: a rule denies the writes. */
export async function rewindFiles(
  core: Rewinding,
  origin: Origin,
  { to, dryRun, force }: { readonly to: ResolvedPoint; readonly dryRun: boolean; readonly force: boolean },
): Promise<FilesRewound> {
  const history = await historySince(core, origin, to);
  const hand = handOf(core, origin, history);
  const plans: Plan[] = [];
  for (const path of history.paths) plans.push(await plan(hand, path));
  const conflicts = plans.filter(({ isConflict }) => isConflict).map(({ history: { path } }) => path);
  const { commands, commandCount } = history;
  const told = { conflicts, commands, commandCount };
  const isRefused = conflicts.length > 0 && !force;
  const isHeld = dryRun || isRefused;
  if (!isHeld) checkAllowed(core, hand);
  const files: FileRewound[] = [];
  for (const each of inOrder(plans)) {
    const outcome = isRefused ? leftAlone(each) : isHeld ? each : await act(core, hand, each);
    const lines = outcome.deed === "kept" ? { insertions: 0, deletions: 0 } : await linesOf(core, each);
    files.push({ path: each.history.path, deed: outcome.deed, reason: outcome.reason, ...lines });
  }
  if (!isHeld) await removeMade(hand, history);
  return { ...told, files };
}

async function historySince(
  core: Rewinding,
  { uuid }: Origin,
  { proc, seq }: ResolvedPoint,
): Promise<FileHistory> {
  const history = new FileHistory();
  let isAfter = false;
  for await (const record of recordsOfLineage(core.ports.journal, uuid)) {
    if (isAfter) history.take(record);
    if (record.proc === proc && record.seq === seq) isAfter = true;
  }
  if (!history.isEvicted) return history;
  const message = `files are kept for the last ${MAX_SNAPSHOTS} messages that changed any; that is further back`;
  throw forkError("NOT_FOUND", message, { kind: "files_forgotten" });
}

/** The handle that restores the files: it acts as the process, on the user's order, with only these effects. */
interface Hand {
  readonly proc: Process;
  readonly files: HostFiles;
  readonly effects: readonly Effect[];
  /** The expected present state of each path, and the permission bits it gets. */
  readonly expected: Map<string, { word: EntryWord; mode: number | null }>;
}

function handOf(core: Rewinding, origin: Origin, history: FileHistory): Hand {
  const callId = asCallId(`c_${core.ports.nonce()}`);
  const proc = new Process(seedOf(core, origin), PID_KERNEL);
  // clients that trace the process see the rewind, too
  proc.traceInto(core.table.get(origin.pid)?.debug ?? null);
  const expected: Hand["expected"] = new Map();
  keepBy(proc, async (change) => {
    const want = expected.get(change.path);
    if (want !== undefined && want.word !== wordOf(change.before))
      throw forkError("CONFLICT", `changed meanwhile: ${change.path}`);
    await keepFile(core, proc, { change, call: callId, rewind: true });
    return { mode: want?.mode ?? null };
  });
  const paths = history.paths.map(({ path }) => path).filter((path) => isInside(proc, path));
  const touched = new Set([...paths, ...history.made, ...paths.flatMap((path) => above(proc, path))]);
  const effects = [...touched].flatMap((path): Effect[] => {
    const of = { path, real: core.ports.realPath(path) };
    const write = (change: "create" | "modify" | "delete"): Effect => ({ kind: "write", change, ...of });
    return [{ kind: "read", ...of }, write("create"), write("modify"), write("delete")];
  });
  const sys = core.handle(proc, { callId, tool: TOOL, effects });
  return { proc, files: new HostFiles(core.ports, sys), effects, expected };
}

/** It has the directories of the process, but the rights of the user. */
function seedOf(core: Rewinding, { uuid, pid, spawned, state }: Origin): Process["seed"] {
  const { clock, realPath, env } = core.ports;
  const scratch = core.table.get(pid)?.seed.scratch ?? "";
  return {
    ...core.root.seed,
    pid,
    uuid,
    kind: "agent",
    intent: spawned.intent,
    createdMono: clock.mono(),
    cwd: spawned.cwd,
    roots: state?.roots ?? [realPath(spawned.cwd)],
    scratch,
    env,
    mode: "bypass",
    rights: ALL_RIGHTS,
    line: [],
    account: new Account(null),
    session: new Session(null),
  };
}

function isInside({ seed }: Process, path: string): boolean {
  return [...seed.roots, seed.scratch].some((root) => root !== "" && isWithin(root, path));
}

/** The directories between a path and its root, the outermost first. */
function above({ seed }: Process, path: string): readonly string[] {
  const found: string[] = [];
  for (let at = dirname(path); isInsideAny(seed.roots, at); at = dirname(at)) found.unshift(at);
  return found;
}

function isInsideAny(roots: readonly string[], path: string): boolean {
  return roots.some((root) => path !== root && isWithin(root, path));
}

async function plan({ proc, files }: Hand, history: PathHistory): Promise<Plan> {
  if (!isInside(proc, history.path)) {
    const now: Look = { word: "other", mode: 0, content: null };
    return {
      deed: "kept",
      reason: "outside the directories of the process",
      isConflict: false,
      history,
      now,
    };
  }
  const now = await files.look(history.path, TEXT_BYTES);
  return { ...decide(history, now.word), history, now };
}

/** The user's order needs no approval, but what a rule denies stays denied. */
function checkAllowed(core: Rewinding, { proc, effects }: Hand): void {
  const { pid, seed } = proc;
  const { mode, cwd, roots, scratch } = seed;
  const writes = effects.filter(({ kind }) => kind === "write");
  if (writes.length === 0) return;
  const subject = { pid, mode, cwd, roots, free: [scratch], allowedDevices: null, grants: [] };
  const decision = core.ports.permitFor(cwd).decide(subject, { tool: TOOL, effects: writes });
  // an error in the policy counts as a denial: the policy might have denied it
  if (decision.behavior !== "allow" && (decision.behavior === "deny" || decision.reason.kind === "error"))
    throw forkError("PERMISSION", decision.message);
}

/** Sorts directories to create first, outermost first; then files to write; then removals, innermost first. */
function inOrder(plans: readonly Plan[]): readonly Plan[] {
  const rank = ({ deed, history: { goal } }: Plan): number => {
    if (goal === "directory") return 0;
    return deed === "removed" ? 2 : 1;
  };
  return plans.toSorted((a, b) => {
    const depth = a.history.path.length - b.history.path.length;
    return rank(a) - rank(b) || (rank(a) === 2 ? -depth : depth);
  });
}

/** The outcome of a path when a conflict, here or at another path, stops the whole rewind. */
function leftAlone({ deed, reason, isConflict }: Plan): Pick<Decision, "deed" | "reason"> {
  if (deed === "unchanged" || isConflict || deed === "kept")
    return { deed: isConflict ? "kept" : deed, reason };
  return { deed: "kept", reason: "left as it is, because of the conflict" };
}

async function act(core: Rewinding, hand: Hand, each: Plan): Promise<Pick<Decision, "deed" | "reason">> {
  const { history, deed, reason, now } = each;
  const { path, goal, blob, mode } = history;
  if (deed === "unchanged" || deed === "kept") return { deed, reason };
  hand.expected.set(path, { word: now.word, mode });
  if (deed === "removed") return removed(hand, each);
  if (goal === "directory") await hand.files.makeDirectory(path);
  else {
    const bytes = await contentOf(core, blob);
    if (bytes === null) return { deed: "kept", reason: "its content is not kept any more" };
    for (const directory of above(hand.proc, path)) await makeMissing(hand, directory);
    await hand.files.put(path, bytes);
  }
  return { deed, reason };
}

/** Removes the path; a directory that is not empty is kept. */
async function removed({ files }: Hand, { history, now }: Plan): Promise<Pick<Decision, "deed" | "reason">> {
  try {
    await files.remove(history.path);
    return { deed: "removed", reason: "" };
  } catch (error) {
    if (now.word !== "directory" || codeOf(error) !== "CONFLICT") throw error;
    return { deed: "kept", reason: "the directory is not empty" };
  }
}

async function makeMissing({ files, expected }: Hand, directory: string): Promise<void> {
  if ((await files.look(directory)).word !== "absent") return;
  expected.set(directory, { word: "absent", mode: null });
  await files.makeDirectory(directory);
}

/** Removes the directories that were created for the files, where they are empty now. */
async function removeMade({ proc, files, expected }: Hand, { made }: FileHistory): Promise<void> {
  for (const directory of made) {
    if (!isInside(proc, directory) || (await files.look(directory)).word !== "directory") continue;
    expected.set(directory, { word: "directory", mode: null });
    await files.remove(directory).catch((error: unknown) => {
      if (codeOf(error) !== "CONFLICT") throw error;
    });
  }
}

/** null: no content is kept, or it was removed. */
async function contentOf(core: Rewinding, blob: string | null): Promise<Uint8Array | null> {
  if (blob === null) return null;
  try {
    return await core.ports.journal.getBlob(blob);
  } catch (error) {
    if (codeOf(error) === "NOT_FOUND") return null;
    throw forkError("CONFLICT", `what was kept is damaged: ${messageOf(error)}`, {
      kind: "damaged",
      pid: null,
    });
  }
}

/** Lines inserted and deleted from the present content to the restored one. */
async function linesOf(
  core: Rewinding,
  { deed, history, now }: Plan,
): Promise<{ insertions: number; deletions: number }> {
  const none = { insertions: 0, deletions: 0 };
  if (deed === "unchanged" || deed === "kept") return none;
  const before = now.content;
  const after = deed === "removed" ? null : await contentOf(core, history.blob);
  if (isTooLarge(before, now) || (after?.byteLength ?? 0) > TEXT_BYTES) return none;
  const [old, next] = [textOf(before), textOf(after)];
  return old === null || next === null ? none : lineCounts(old, next);
}

function isTooLarge(content: Buffer | null, { word }: Look): boolean {
  return content === null && word.startsWith("sha256:");
}

/** null: not text. */
function textOf(bytes: Uint8Array | null): string | null {
  if (bytes === null) return "";
  if (bytes.includes(0)) return null;
  const text = Buffer.from(bytes).toString("utf8");
  return text.includes("�") ? null : text;
}
