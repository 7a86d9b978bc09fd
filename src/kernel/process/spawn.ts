/**
 * spawn(): six steps; a failure in step n undoes n - 1 … 1 in reverse order and returns that error. The caller gets the
 * pid only when the process is journalled, synced and running.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { O_RDWR } from "../../abi/device.ts";
import { codeOf, Fault, messageOf, printed, SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import { endLive } from "./finish.ts";
import { Process, type ProcessSeed } from "./process.ts";
import { closeChannels, freeContexts } from "./reap.ts";
import { intersect } from "./rights.ts";
import { runProgram } from "./run.ts";
import { Session } from "./session.ts";

export async function spawnProcess(
  core: Core,
  caller: Process,
  intent: string,
  agent: AgentInfo | null,
  opts: SpawnOpts,
  signal: AbortSignal,
  onMade: (proc: Process) => void = () => {},
): Promise<Process> {
  const parent = findParent(core, caller, opts);
  checkArguments(core, caller, parent, intent, opts);
  const id = { pid: core.nextPid(), uuid: core.ports.uuid() };
  // The scratch folder is there even when nothing else is.
  const undo: Undo[] = [() => core.ports.onReaped(id.uuid)];
  let proc: Process | undefined;
  try {
    proc = new Process(seedOf(core, parent, id, intent, agent, opts), parent.pid);
    await build(core, parent, proc, opts, undo, signal);
    onMade(proc);
    begin(core, parent, proc, opts);
    return proc;
  } catch (error) {
    const failure = spawnError(id.pid, error);
    await takeBack(core, id.pid, undo);
    await journalFailure(core, id, error);
    proc?.done.reject(failure);
    throw failure;
  }
}

type Identity = Pick<ProcessSeed, "pid" | "uuid">;
type Undo = () => Promise<void> | void;

/** In reverse order; what cannot be undone is logged and does not keep the rest. */
async function takeBack(core: Core, pid: Pid, undo: readonly Undo[]): Promise<void> {
  for (const step of undo.toReversed()) {
    try {
      await step();
    } catch (error) {
      core.ports.log("error", `pid ${pid}: taking back a spawn: ${printed(error)}`);
    }
  }
}

function findParent(core: Core, caller: Process, opts: SpawnOpts): Process {
  const { parentPid } = opts;
  if (parentPid === undefined || parentPid === caller.pid) return caller;
  if (caller.pid !== PID_KERNEL)
    throw refuse(caller.pid, "PERMISSION", "only the kernel's clients may name another parent");
  if (parentPid === PID_KERNEL) return core.root;
  const parent = core.table.get(parentPid);
  if (parent?.isLive === true) return parent;
  throw refuse(caller.pid, "NOT_FOUND", `parent process not found: ${parentPid}`);
}

function checkArguments(core: Core, caller: Process, parent: Process, intent: string, opts: SpawnOpts): void {
  if (!core.accepting) throw refuse(caller.pid, "UNAVAILABLE", "the kernel is shutting down");
  if (intent.trim() === "") throw refuse(caller.pid, "INVALID", "intent is empty");
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes)
    throw refuse(caller.pid, "INVALID", `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`);
  if ((opts.maxTurns ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative maxTurns: ${opts.maxTurns}`);
  if ((opts.timeoutMs ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative timeoutMs: ${opts.timeoutMs}`);
  if (opts.cwd !== undefined) checkDirectory(core, caller, parent, opts.cwd);
}

/** Rights only narrow: a child works below a directory in which its parent does. */
function checkDirectory(core: Core, caller: Process, parent: Process, cwd: string): void {
  if (!cwd.startsWith("/"))
    throw refuse(caller.pid, "INVALID", `working directory is not an absolute path: ${cwd}`);
  if (parent.pid === PID_KERNEL) return;
  const real = core.ports.realPath(cwd);
  if (parent.seed.roots.some((root) => isWithin(root, real))) return;
  throw refuse(caller.pid, "PERMISSION", `working directory lies outside the parent's: ${cwd}`);
}

function seedOf(
  core: Core,
  parent: Process,
  { pid, uuid }: Identity,
  intent: string,
  agent: AgentInfo | null,
  opts: SpawnOpts,
): ProcessSeed {
  const { clock, scratchDir, home, realPath, additionalRoots, env } = core.ports;
  const top = parent.pid === PID_KERNEL;
  const cwd = opts.cwd ?? (top ? home : parent.seed.cwd);
  const scratch = scratchDir(uuid);
  const manifest = agent?.manifest;
  const roots = [realPath(cwd), ...(top ? additionalRoots.map(realPath) : parent.seed.roots)];
  return {
    pid,
    uuid,
    kind: "agent",
    intent,
    agent,
    skills: manifest?.skills ?? [],
    createdAt: new Date(clock.now()),
    createdMono: clock.mono(),
    cwd,
    roots: [...new Set(roots)],
    scratch,
    env: { ...(opts.env ?? (top ? env : parent.seed.env)), CRUX_SCRATCH: scratch },
    mode: top
      ? (opts.permissionMode ?? core.ports.permitFor(cwd).defaultMode)
      : narrowest(parent.seed.mode, opts.permissionMode),
    allowedDevices: intersect(parent.seed.allowedDevices, agent?.allowedDevices ?? null),
    maxSteps:
      opts.maxTurns !== undefined && opts.maxTurns > 0
        ? opts.maxTurns
        : manifest?.maxSteps || core.ports.defaultMaxSteps,
    // Negative counts as 0: then the agent file decides, else nothing does.
    account: new Account(
      parent.seed.account,
      Math.max(0, opts.contextBudget ?? 0) || (manifest?.contextBudget ?? 0),
    ),
    session: top ? new Session() : parent.seed.session,
    onParentExit: opts.onParentExit ?? "reparent",
  };
}

function narrowest(parent: PermissionMode, wish: PermissionMode | undefined): PermissionMode {
  if (wish === undefined) return parent;
  return PERMISSION_MODES.indexOf(wish) < PERMISSION_MODES.indexOf(parent) ? wish : parent;
}

/** Steps 2 to 6; each pushes what takes it back. */
async function build(
  core: Core,
  parent: Process,
  proc: Process,
  opts: SpawnOpts,
  undo: Undo[],
  signal: AbortSignal,
): Promise<void> {
  core.table.add(proc);
  parent.children.add(proc.pid);
  undo.push(() => {
    core.table.remove(proc.pid);
    // Its parent may have been reaped meanwhile.
    (core.table.get(proc.ppid) ?? core.root).children.delete(proc.pid);
    closeChannels(proc);
  });

  proc.ctxId = core.contexts.alloc(LIMITS.contextMessages);
  proc.contexts.add(proc.ctxId);
  undo.push(() => freeContexts(core, proc));
  core.contexts.setSystemPrompt(proc.ctxId, systemPrompt(proc.seed.agent, opts.systemPrompt ?? ""));
  core.contexts.append(proc.ctxId, { role: "user", content: proc.seed.intent });

  undo.push(() => endHandle(core, proc));
  // A signal to a process that is being made ends the making.
  using linked = linkSignals(signal, proc.abort.signal);
  await openModel(core, proc, opts, linked.signal);
  await journalSpawn(core, proc);
}

/** As at the end of every process: refused, closed, aborted. */
async function endHandle(core: Core, proc: Process): Promise<void> {
  proc.revoked = true;
  await proc.fds.closeAll((error) => core.ports.log("warn", `pid ${proc.pid}: close: ${printed(error)}`));
  proc.abort.abort();
}

function systemPrompt(agent: AgentInfo | null, more: string): string {
  return [agent?.systemPrompt ?? "", more].filter((part) => part !== "").join("\n\n");
}

/** fd 3. The open is the first call of the child's own trace. */
async function openModel(core: Core, proc: Process, opts: SpawnOpts, signal: AbortSignal): Promise<void> {
  const { agent, env } = proc.seed;
  const wish = {
    model: opts.model ?? "",
    provider: agent?.manifest.models.provider ?? "",
    preferred: agent?.manifest.models.preferred ?? "",
  };
  const choice = await abortable(core.ports.models.resolve({ ...wish, env }, signal), signal);
  proc.modelDevice = choice.device;
  proc.model = choice.model;
  proc.notice = choice.notice ?? "";
  await core.handle(proc, null).open(choice.device, O_RDWR, signal);
}

async function journalSpawn(core: Core, proc: Process): Promise<void> {
  const { seed, pid, ppid, model, modelDevice } = proc;
  const body = {
    ppid,
    kind: seed.kind,
    intent: seed.intent,
    agent: seed.agent?.manifest.name ?? null,
    skills: seed.skills,
    cwd: seed.cwd,
    mode: seed.mode,
    allowedDevices: seed.allowedDevices,
    maxSteps: seed.maxSteps,
    budget: seed.account.limit,
    model,
    modelDevice,
    createdAt: seed.createdAt.getTime(),
  };
  await core.ports.journal.append([{ proc: seed.uuid, pid, kind: "process.spawned", v: 1, body }]);
}

function begin(core: Core, parent: Process, proc: Process, opts: SpawnOpts): void {
  const { seed, pid } = proc;
  if (parent.pid === PID_KERNEL && opts.interactive === true) seed.session.approvers = proc.watchers;
  proc.watchers.onEmpty = () => {
    if (seed.session.approvers === proc.watchers) core.asks.abandon(seed.session);
    core.offer(proc, "now");
  };
  const details = {
    agent: seed.agent?.manifest.name ?? "",
    model: proc.model,
    maxSteps: seed.maxSteps,
    budget: seed.account.limit,
    device: proc.modelDevice,
  };
  const notice = proc.notice === "" ? {} : { notice: proc.notice };
  proc.watchers.publish({ event: "spawn", pid, intent: seed.intent, ...notice, details });
  runProgram(core, proc, opts.timeoutMs ?? 0);
  if (proc.verdict !== null) endLive(core, proc, LIMITS.termGraceMs);
}

async function journalFailure(core: Core, { pid, uuid }: Identity, error: unknown): Promise<void> {
  const body = { code: codeOf(error), message: messageOf(error).slice(0, LIMITS.journalWordsChars) };
  const record = { proc: uuid, pid, kind: "process.failed", v: 1, body } as const;
  // The pid must stay spent; if even that cannot be written, the first error is the one to report.
  await core.ports.journal.append([record]).catch(() => {});
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
