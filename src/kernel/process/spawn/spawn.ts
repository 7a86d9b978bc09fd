/**
 * spawn() in six steps: check the request, enter the table, hand over files, join the group, prepare the body, journal.
 * A failure in step n undoes n - 1 … 1 in reverse order and returns that error. The caller gets the pid only when the
 * process is journalled, synced and running.
 */

import { unframed } from "../../../abi/child.ts";
import { codeOf, Fault, messageOf, printed, SyscallError } from "../../../abi/errors.ts";
import type { LogEntry, ProcessEvent } from "../../../abi/events.ts";
import { isInternal } from "../../../abi/fork.ts";
import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import type { Worktree } from "../../../abi/worktree.ts";
import { ABORTED, linkSignals } from "../../../lib/abort.ts";
import { isWithin } from "../../../lib/path.ts";
import { secretValues } from "../../../lib/redact/secret-values.ts";
import type { Account } from "../../account/account.ts";
import type { Admission } from "../../account/admission.ts";
import { moreLimits } from "../../account/kept-account.ts";
import { checkSpawn, countDrafts, countSpawn } from "../../account/spawn-guard.ts";
import type { Groups } from "../../ipc/groups.ts";
import { pictured } from "../../ipc/pictured.ts";
import { labelsFacet } from "../../labels/facet.ts";
import { LIMITS } from "../../limits.ts";
import { keepLog } from "../../log/log-history.ts";
import type { JournalDraft } from "../../ports/journal.ts";
import type { JournalHold } from "../../ports/journal-hold.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { redactedText } from "../../redact/model-bound.ts";
import type { DeviceRegistry } from "../../vfs/registry.ts";
import { type Body, bodyOf, type Making, type Undo } from "../body.ts";
import { endLive, graceOf } from "../end/finish.ts";
import { Process } from "../process.ts";
import { checkPersonsRules, checkWish } from "../rights/given-rights.ts";
import type { ProcessTable } from "../table.ts";
import { checkMember } from "../team.ts";
import { treeOf, worktreeFacet } from "../tree/worktree.ts";
import { asOffered, checkFork, type ForkRuling } from "./fork.ts";
import { type Running, runProgram } from "./run.ts";
import { type Birth, checkNew, checkUnused, type Identity, type Seeding, seedOf } from "./seed.ts";
import { handOver, installFiles, type StdFile } from "./stdio.ts";

/** Options for the kernel's own callers, not available to programs. */
export interface SpawnMore {
  /** Called before the first event. */
  readonly onMade?: (proc: Process) => void;
  /** An account that outlives the process: that of a supervised child. */
  readonly account?: Account;
  /** The process whose rights it gets in part, if not its parent: a user's supervisor only keeps children running. */
  readonly rights?: Process;
  /** A native runs without a sandbox, by decision of the gate. */
  readonly isOutside?: boolean;
  /** The worktree that was made for it, in which it works. */
  readonly worktree?: Worktree;
  /** Its fds 0 to 2. Closed with the process, also if the spawn fails after it entered the table. */
  readonly files?: readonly StdFile[];
  /** Records of another process, atomic with the record of the spawn. */
  readonly alongside?: (proc: Process) => readonly JournalDraft[];
}

/** What the log and the watchers of a process need of the kernel. */
export interface Attending {
  note(proc: Process, kind: "process.log", body: unknown): void;
  offer(proc: Process, when: "now"): void;
}

/** What a spawn needs of the kernel. */
export type Spawning = {
  readonly ports: Pick<KernelPorts, "uuid" | "onReaped" | "bypassRefusal">;
  readonly table: Pick<ProcessTable, "add" | "remove" | "get" | "childrenOf" | "all">;
  readonly groups: Pick<Groups, "joinNew" | "leaveAll" | "of" | "recordOf">;
  readonly devices: Pick<DeviceRegistry, "has">;
  readonly root: Process;
  /** False: the kernel is shutting down. */
  readonly accepting: boolean;
  readonly admission: Pick<Admission, "check" | "enter" | "leave" | "waitingIn">;
  readonly journalWatch: Pick<JournalHold<Process>, "check" | "wait" | "append">;
  nextPid(): Pid;
} & Running &
  Seeding &
  ForkRuling &
  Attending;

/** A spawn as it is requested. */
export interface SpawnRequest {
  readonly caller: Process;
  readonly intent: string;
  readonly opts: SpawnOpts;
  readonly more?: SpawnMore;
}

export async function spawnBody(
  core: Spawning,
  { caller, intent: said, body, opts: asked, more = {} }: SpawnRequest & { readonly body: Body },
  signal: AbortSignal,
): Promise<Process> {
  const opts = asOffered(caller, asked);
  // If the disk refuses writes, the user gets the error at once; a process waits for the disk. This comes first:
  // nothing may happen between the checks and the entry in the table.
  if (caller.pid === PID_KERNEL) core.journalWatch.check("Spawn");
  else await core.journalWatch.wait(caller, "Spawn", signal);
  const { uuid: wished } = opts;
  if (wished !== undefined) await checkNew(core, caller, wished);
  core.ports.redactor?.learn(secretValues(opts.env ?? {}));
  const { media } = opts;
  if (media !== undefined && body.kind !== "agent")
    throw refuse(caller.pid, "INVALID", "only an agent is shown pictures");
  const call = { pid: caller.pid, syscall: "Spawn" };
  const words = redactedText(core, caller, media === undefined ? said : pictured(call, said, media));
  // what an internal fork is told are words of Crux
  const intent = isInternal(opts.fork?.label) ? words : opened(body, opts, unframed(words));
  const parent = findParent(core, caller, opts);
  const giver = more.rights ?? parent;
  const birth: Birth = {
    caller,
    parent,
    giver,
    intent,
    body,
    opts,
    account: more.account,
    worktree: more.worktree,
  };
  checkArguments(core, birth);
  if (body.kind !== "native") checkEnvironment(birth);
  if (opts.fork !== undefined) checkFork(core, birth, opts.fork);
  if (body.kind === "agent" && !isInternal(opts.fork?.label)) {
    checkMember(core, caller, opts.child);
    checkSpawn(core, parent, opts.child === undefined ? null : birth);
  }
  if (wished !== undefined) checkUnused(core, caller, wished);
  const id = { pid: core.nextPid(), uuid: wished ?? core.ports.uuid() };
  // the scratch folder may exist even if nothing else does
  const undo: Undo[] = [() => core.ports.onReaped(id.uuid)];
  let proc: Process | undefined;
  try {
    proc = new Process(seedOf(core, id, birth), parent.pid);
    if (more.worktree !== undefined)
      proc.facts.change(worktreeFacet, "process.spawned", { worktree: more.worktree });
    // its intent may contain what its parent has read
    proc.facts.change(labelsFacet, "process.spawned", { labels: caller.labels });
    await build({ core, caller, parent, proc, opts, more, undo }, signal);
    more.onMade?.(proc);
    begin(core, proc, opts);
    tellParent(core, parent, proc);
    return proc;
  } catch (error) {
    const failure = spawnError(id.pid, error);
    await takeBack(core.ports, id.pid, undo);
    await journalFailure(core.ports, id, error);
    proc?.done.reject(failure);
    throw failure;
  }
}

function tellParent({ ports }: Spawning, parent: Process, { pid: child, seed }: Process): void {
  if (seed.child === undefined) return;
  const { title } = seed.child;
  const agent = seed.fork?.label ?? seed.agent?.manifest.name ?? "";
  parent.tell({ event: "child", pid: parent.pid, child, agent, title }, ports.clock.mono());
}

/** Runs the undo steps in reverse order; a step that fails is logged and the next one runs. */
async function takeBack({ log }: Pick<KernelPorts, "log">, pid: Pid, undo: readonly Undo[]): Promise<void> {
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch (error) {
      log("error", `pid ${pid}: taking back a spawn: ${printed(error)}`);
    }
  }
}

function findParent(core: Spawning, caller: Process, opts: SpawnOpts): Process {
  const { parentPid } = opts;
  if (parentPid === undefined || parentPid === caller.pid) return caller;
  if (caller.pid !== PID_KERNEL)
    throw refuse(caller.pid, "PERMISSION", "only the kernel's clients may name another parent");
  if (parentPid === PID_KERNEL) return core.root;
  const parent = core.table.get(parentPid);
  if (parent?.isLive === true) return parent;
  throw refuse(caller.pid, "NOT_FOUND", `parent process not found: ${parentPid}`);
}

/** With the initial prompt of its agent file; a session without an intent adds that to the first message that it reads. */
function opened({ agent }: Body, { fork }: SpawnOpts, intent: string): string {
  const { initialPrompt } = agent?.manifest ?? {};
  const isPlain = initialPrompt === undefined || intent === "" || fork !== undefined;
  return isPlain ? intent : `${initialPrompt}\n\n${intent}`;
}

function checkArguments(core: Spawning, { caller, giver, intent, opts, worktree }: Birth): void {
  if (!core.accepting) throw refuse(caller.pid, "UNAVAILABLE", "the kernel is shutting down");
  const mayBeSilent = opts.session === true && opts.command === undefined;
  if (intent.trim() === "" && !(intent === "" && mayBeSilent))
    throw refuse(caller.pid, "INVALID", "intent is empty");
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes)
    throw refuse(caller.pid, "INVALID", `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`);
  if ((opts.maxTurns ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative maxTurns: ${opts.maxTurns}`);
  if ((opts.timeoutMs ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative timeoutMs: ${opts.timeoutMs}`);
  if (opts.cwd !== undefined) checkDirectory(core.ports.realPath, { caller, giver, worktree }, opts.cwd);
  if (opts.rights !== undefined) checkWish(opts.rights);
  if (opts.rights !== undefined && caller.pid === PID_KERNEL)
    checkPersonsRules(core.ports.permitFor(opts.cwd ?? giver.seed.cwd), opts.rights);
  if (opts.permissionMode === "bypass" && caller.pid === PID_KERNEL) checkBypass(core.ports, caller);
}

/** INVALID: bypass mode for a user who could damage the machine; it is meant for disposable machines. */
function checkBypass({ bypassRefusal }: Pick<KernelPorts, "bypassRefusal">, caller: Process): void {
  const why = bypassRefusal?.() ?? "";
  if (why !== "") throw refuse(caller.pid, "INVALID", why);
}

/** Rights only narrow: a child works below a directory in which its parent does. */
function checkDirectory(
  realPath: (path: string) => string,
  { caller, giver, worktree }: Pick<Birth, "caller" | "giver" | "worktree">,
  cwd: string,
): void {
  if (!cwd.startsWith("/"))
    throw refuse(caller.pid, "INVALID", `working directory is not an absolute path: ${cwd}`);
  if (giver.pid === PID_KERNEL) return;
  const real = realPath(cwd);
  if (giver.roots.some((root) => isWithin(root, real))) return;
  const outside = `working directory lies outside the parent's: ${cwd}`;
  const atTop =
    "a worktree lies at the top of the repository, and only an agent that works there can give one: do without it here";
  throw refuse(caller.pid, "PERMISSION", worktree === undefined ? outside : `${outside}; ${atTop}`);
}

/**
 * An agent has its parent's environment: only the user decides which programs it finds and where its keys go. Programs
 * of the host are not checked here: the gate judged them with the variables that they are given.
 */
function checkEnvironment({ caller, giver, opts: { env } }: Birth): void {
  const { pid, seed } = giver;
  if (pid === PID_KERNEL || env === undefined) return;
  const names = new Set([...Object.keys(seed.env), ...Object.keys(env)]);
  const changed = [...names].find((name) => env[name] !== seed.env[name] && name !== "CRUX_SCRATCH");
  if (changed === undefined) return;
  throw refuse(caller.pid, "PERMISSION", `an agent has its parent's environment; ${changed} differs`);
}

/** Internal forks are few at once, and not counted among the agents that an agent starts. */
function isCounted({ seed }: Process): boolean {
  return seed.kind === "agent" && !isInternal(seed.fork?.label);
}

interface Building {
  readonly core: Spawning;
  readonly caller: Process;
  readonly parent: Process;
  readonly proc: Process;
  readonly opts: SpawnOpts;
  readonly more: SpawnMore;
  readonly undo: Undo[];
}

/** Steps 2 to 6; `undo` gets how each is undone. */
async function build(
  { core, caller, parent, proc, opts, more, undo }: Building,
  signal: AbortSignal,
): Promise<void> {
  core.table.add(proc);
  undo.push(() => {
    core.table.remove(proc.pid);
    core.admission.leave(proc);
    core.groups.leaveAll(proc);
    proc.closeChannels();
  });
  core.admission.enter(proc);
  core.admission.check();
  if (isCounted(proc)) undo.push(countSpawn(core, parent));
  undo.push(() => endHandle(core, proc));
  handOver(core.devices, { caller, proc, opts });
  installFiles(proc, more.files ?? []);
  if (opts.group !== undefined) core.groups.joinNew(proc, opts.group, (more.rights ?? caller).pid);
  // a signal to a process during its spawn ends the spawn
  using linked = linkSignals(signal, proc.abort.signal);
  const making = { parent, proc, opts, undo, signal: linked.signal };
  await bodyOf(proc).prepare(making);
  const counted = isCounted(proc) ? countDrafts(core, parent) : [];
  const alongside = [...counted, ...(more.alongside?.(proc) ?? [])];
  await journalSpawn(core, making, { caller, alongside });
}

/** The same order as at the end of every process: refuse calls, close the files, abort. */
async function endHandle(core: Spawning, proc: Process): Promise<void> {
  proc.life.close();
  await proc.fds.closeAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  proc.abort.abort(ABORTED);
}

async function journalSpawn(
  core: Spawning,
  making: Making,
  { caller, alongside }: { readonly caller: Process; readonly alongside: readonly JournalDraft[] },
): Promise<void> {
  const { proc, opts } = making;
  const { seed, pid, ppid } = proc;
  const body = {
    ppid,
    kind: seed.kind,
    intent: seed.intent,
    agent: seed.agent?.manifest.name ?? null,
    skills: seed.skills,
    cwd: seed.cwd,
    mode: proc.mode,
    rights: seed.rights,
    line: seed.line,
    ...(proc.labels.length === 0 ? {} : { labels: proc.labels }),
    maxSteps: seed.maxSteps,
    budget: seed.account.limit,
    ...moreLimits(seed.account.limits),
    ...(seed.account.depth > 0 ? { depth: seed.account.depth } : {}),
    createdAt: seed.createdAt.getTime(),
    ...(seed.isSession === true ? { isSession: true } : {}),
    ...(seed.child === undefined ? {} : { child: seed.child }),
    ...(seed.agents === undefined ? {} : { agents: seed.agents }),
    ...treeOf(proc),
    ...(opts.media === undefined ? {} : { media: opts.media }),
    ...(opts.request === undefined ? {} : { request: opts.request }),
    ...bodyOf(proc).record?.(proc),
  };
  const own = { proc: seed.uuid, pid, v: 1 };
  const joins = [...core.groups.of(proc)].map(
    (id) => ({ ...own, kind: "group.join", body: core.groups.recordOf(id) }) as const,
  );
  const kept = (bodyOf(proc).keep?.(making) ?? []).map((record) => ({ ...own, ...record }));
  const { origin } = proc.past;
  const forked = origin === null ? [] : [{ ...own, kind: "process.forked" as const, body: origin }];
  const records = [
    ...forked,
    { ...own, kind: "process.spawned" as const, body },
    ...kept,
    ...joins,
    ...alongside,
  ];
  // of many that a client starts, all are acknowledged before the first begins
  const letBegin = caller.pid === PID_KERNEL ? core.ports.starts?.hold() : undefined;
  try {
    if (caller.pid === PID_KERNEL) await core.ports.journal.append(records);
    else await core.journalWatch.append(caller, "Spawn", making.signal, records);
  } catch (error) {
    throw core.ports.journal.state.state === "lost" ? unsure(pid, error) : error;
  } finally {
    letBegin?.();
  }
}

/** After a failed sync the record may be on disk or not. */
function unsure(pid: Pid, cause: unknown): Fault {
  const message = `${messageOf(cause)}; whether process ${pid} was recorded is not known`;
  return new Fault({ code: "UNAVAILABLE", message, fact: { kind: "unsure", pid }, cause });
}

/** Has the process offered to the reaper when its last watcher leaves, and its log journalled. */
export function attend(core: Attending, proc: Process): (entry: LogEntry) => void {
  const keep = keepLog((entry) => core.note(proc, "process.log", entry));
  proc.watchers.onEmpty = () => core.offer(proc, "now");
  proc.keepLog(keep);
  return keep;
}

/** The first event that its watchers get. */
export function spawnEvent(proc: Process): ProcessEvent {
  const { seed, pid } = proc;
  const details = {
    agent: seed.agent?.manifest.name ?? "",
    model: proc.model.name,
    maxSteps: seed.maxSteps,
    budget: seed.account.limit,
    device: proc.model.device,
    ...(proc.mode === "default" || seed.kind !== "agent" ? {} : { mode: proc.mode }),
  };
  const notice = proc.model.notice === "" ? {} : { notice: proc.model.notice };
  return { event: "spawn", pid, intent: seed.intent, ...notice, details };
}

function begin(core: Spawning, proc: Process, opts: SpawnOpts): void {
  const { seed, pid } = proc;
  const keep = attend(core, proc);
  const early = [...(proc.logs?.kept ?? [])];
  proc.tell(spawnEvent(proc), core.ports.clock.mono());
  // log lines of the spawn itself, emitted before anyone could watch
  for (const entry of early) {
    proc.watchers.publish({ event: "log", pid, entry });
    keep(entry);
  }
  runProgram(core, proc, opts.timeoutMs ?? 0);
  // its mode was changed during the spawn, with that of an ancestor
  if (proc.mode !== seed.mode) core.note(proc, "mode.set", { mode: proc.mode, ...priorOf(proc) });
  if (proc.ending.verdict !== null) endLive(core, proc, graceOf(proc));
}

function priorOf({ dial: { prior } }: Process): { prior?: PermissionMode } {
  return prior === null ? {} : { prior };
}

async function journalFailure(
  { journal }: Pick<KernelPorts, "journal">,
  { pid, uuid }: Identity,
  error: unknown,
): Promise<void> {
  const body = { code: codeOf(error), message: messageOf(error).slice(0, LIMITS.journalWordsChars) };
  const record = { proc: uuid, pid, kind: "process.failed", v: 1, body } as const;
  // the record keeps the pid from being reused; if it cannot be written either, the first error is the one to report
  await journal.append([record]).catch(() => {});
}

function spawnError(pid: Pid, error: unknown): SyscallError {
  if (error instanceof SyscallError && error.syscall === "Spawn" && error.pid === pid) return error;
  const { device, hint } = error instanceof Fault ? error : {};
  const message = messageOf(error);
  return new SyscallError({
    syscall: "Spawn",
    pid,
    device,
    code: codeOf(error),
    message,
    hint,
    cause: error,
  });
}

function refuse(
  pid: Pid,
  code: "INVALID" | "NOT_FOUND" | "PERMISSION" | "UNAVAILABLE",
  message: string,
): SyscallError {
  return new SyscallError({ syscall: "Spawn", pid, code, message });
}
