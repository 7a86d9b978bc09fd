/**
 * spawn(): six steps; a failure in step n undoes n - 1 … 1 in reverse order and returns that error. The caller gets the
 * pid only when the process is journalled, synced and running.
 */
import type { AgentInfo } from "../../abi/agent.ts";
import { codeOf, Fault, messageOf, SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import { LIMITS } from "../limits.ts";
import { killRunning } from "./finish.ts";
import { Process, type ProcessSeed } from "./process.ts";
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
  checkArguments(core, caller, intent, opts);
  const proc = new Process(seedOf(core, parent, intent, agent, opts), parent.pid);
  const undo: (() => Promise<void> | void)[] = [];
  try {
    await build(core, parent, proc, opts, undo, signal);
    onMade(proc);
    begin(core, proc, opts);
    return proc;
  } catch (error) {
    for (const step of undo.reverse()) await step();
    await journalFailure(core, proc, error);
    throw spawnError(proc, error);
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

function checkArguments(core: Core, caller: Process, intent: string, opts: SpawnOpts): void {
  if (!core.accepting) throw refuse(caller.pid, "UNAVAILABLE", "the kernel is shutting down");
  if (intent.trim() === "") throw refuse(caller.pid, "INVALID", "intent is empty");
  const bytes = Buffer.byteLength(intent);
  if (bytes > LIMITS.intentBytes)
    throw refuse(caller.pid, "INVALID", `intent of ${bytes} bytes; at most ${LIMITS.intentBytes}`);
  if ((opts.maxTurns ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative maxTurns: ${opts.maxTurns}`);
  if ((opts.timeoutMs ?? 0) < 0) throw refuse(caller.pid, "INVALID", `negative timeoutMs: ${opts.timeoutMs}`);
}

function seedOf(
  core: Core,
  parent: Process,
  intent: string,
  agent: AgentInfo | null,
  opts: SpawnOpts,
): ProcessSeed {
  const { clock, uuid, scratchDir, home, realPath, additionalRoots, env } = core.ports;
  const top = parent.pid === PID_KERNEL;
  const cwd = opts.cwd ?? (top ? home : parent.seed.cwd);
  const id = uuid();
  const scratch = scratchDir(id);
  const manifest = agent?.manifest;
  const budget =
    opts.contextBudget !== undefined && opts.contextBudget !== 0
      ? opts.contextBudget
      : manifest?.contextBudget;
  return {
    pid: core.nextPid(),
    uuid: id,
    kind: "agent",
    intent,
    agent,
    skills: manifest?.skills ?? [],
    createdAt: new Date(clock.now()),
    createdMono: clock.mono(),
    cwd,
    roots: [realPath(cwd), ...(top ? additionalRoots.map(realPath) : parent.seed.roots)],
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
    account: new Account(parent.seed.account, budget ?? 0),
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
  undo: (() => Promise<void> | void)[],
  signal: AbortSignal,
): Promise<void> {
  core.table.add(proc);
  parent.children.add(proc.pid);
  undo.push(() => {
    core.table.remove(proc.pid);
    parent.children.delete(proc.pid);
    return core.ports.onReaped(proc.seed.uuid);
  });

  proc.ctxId = core.contexts.alloc(LIMITS.contextMessages);
  proc.contexts.add(proc.ctxId);
  undo.push(() => core.contexts.free(proc.ctxId));
  core.contexts.setSystemPrompt(proc.ctxId, systemPrompt(proc.seed.agent, opts.systemPrompt ?? ""));
  core.contexts.append(proc.ctxId, { role: "user", content: proc.seed.intent });

  const modelFd = await openModel(core, proc, opts, signal);
  undo.push(() => core.handle(proc, null).close(modelFd));
  await journalSpawn(core, proc);
}

function systemPrompt(agent: AgentInfo | null, more: string): string {
  return [agent?.systemPrompt ?? "", more].filter((part) => part !== "").join("\n\n");
}

/** fd 3. The open is the first call of the child's own trace. */
async function openModel(core: Core, proc: Process, opts: SpawnOpts, signal: AbortSignal) {
  const { agent, env } = proc.seed;
  const wish = {
    model: opts.model ?? "",
    provider: agent?.manifest.models.provider ?? "",
    preferred: agent?.manifest.models.preferred ?? "",
  };
  const choice = await core.ports.models.resolve({ ...wish, env }, signal);
  proc.modelDevice = choice.device;
  proc.model = choice.model;
  proc.notice = choice.notice ?? "";
  return core.handle(proc, null).open(choice.device, 2, signal);
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

function begin(core: Core, proc: Process, opts: SpawnOpts): void {
  const { seed, pid } = proc;
  const top = proc.ppid === PID_KERNEL;
  if (top && opts.interactive === true) seed.session.approvers = proc.watchers;
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
  if (proc.verdict !== null) killRunning(core, proc);
}

async function journalFailure(core: Core, proc: Process, error: unknown): Promise<void> {
  const body = { code: codeOf(error), message: messageOf(error) };
  const { pid } = proc;
  const record = { proc: proc.seed.uuid, pid, kind: "process.failed", v: 1, body } as const;
  // The pid must stay spent; if even that cannot be written, the first error is the one to report.
  await core.ports.journal.append([record]).catch(() => {});
}

function spawnError(proc: Process, error: unknown): SyscallError {
  if (error instanceof SyscallError && error.syscall === "Spawn") return error;
  const device = error instanceof Fault ? error.device : undefined;
  const hint = error instanceof Fault ? error.hint : undefined;
  const code = codeOf(error);
  return new SyscallError({
    syscall: "Spawn",
    pid: proc.pid,
    device,
    code,
    message: messageOf(error),
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
