/** The calls of a process: how it is started, waited for and ended. */
import type { AgentInfo } from "../../abi/agent.ts";
import { agentIdOf } from "../../abi/child.ts";
import { SyscallError } from "../../abi/errors.ts";
import { FORK } from "../../abi/fork.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { abortable } from "../../lib/abort.ts";
import { type EndSearch, endOf } from "../facts/ended.ts";
import { checkCovered } from "../gate/covers.ts";
import { execEffect } from "../gate/exec-effect.ts";
import type { KernelCall } from "../gate/gate.ts";
import { cancelled } from "../gate/gate.ts";
import { guard } from "../gate/guard.ts";
import { ownCopy } from "../gate/own-copy.ts";
import type { Gatekeeping, KernelPass } from "../gate/passage.ts";
import { allowing } from "../gate/permit.ts";
import type { Scope } from "../gate/scope.ts";
import { guardServers, type Launching } from "../gate/servers.ts";
import { addLabels, type LabelKeeper } from "../labels/labelled.ts";
import { LIMITS } from "../limits.ts";
import { EXEC_TOOL } from "../native/command.ts";
import { type Hosting, spawnProcess } from "../native/spawn-process.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { endLive, type Finishing } from "../process/end/finish.ts";
import { type Reaping, reapProcess } from "../process/end/reap.ts";
import { detach, usesOf } from "../process/end/report.ts";
import type { Process } from "../process/process.ts";
import { loadedAgent, type NamedStarting } from "../process/spawn/named.ts";
import type { ProcessTable } from "../process/table.ts";
import { treeOf } from "../process/tree/worktree.ts";

/** The parts of the kernel that a spawn uses. */
type Starting = { deliver(proc: Process, signal: Signal): Promise<unknown> } & Hosting &
  Gatekeeping &
  Launching &
  NamedStarting;

/** Looks up what the caller controls. */
interface Controlling {
  readonly table: Pick<ProcessTable, "require">;
}

interface SpawnArgs {
  readonly intent: string;
  readonly agent: AgentInfo | string | null;
  readonly opts: SpawnOpts;
}

/** Once an agent that was named is loaded. */
type LoadedArgs = SpawnArgs & { readonly agent: AgentInfo | null };

/**
 * Spawn(agent, intent, model): a new process. The steps are in process/spawn/. Host programs and the MCP servers of an
 * agent are effects: they pass the guard before anything starts, unless the user starts them.
 */
const spawn: KernelCall<"spawn", SpawnArgs, Starting> = {
  name: "Spawn",
  holds: true,
  take: (intent, agent, opts = {}) => ({ intent, agent, opts }),
  args: (given) => ({ agent: nameOf(given), intent: given.intent, model: given.opts.model ?? "" }),
  result: (pid) => pid,
  async run(pass, given) {
    const { self } = pass;
    if (pass.scope !== null && given.opts.command === undefined)
      checkDeclared(self, nameOf(given), pass.scope);
    // one that is given as a whole is taken in this turn, before its caller can change it
    const named = isLoaded(given) ? given : await loadedAgent(pass.core, self, given, pass.signal);
    if (self.pid === PID_KERNEL) return start(pass, named);
    if (named.opts.fork !== undefined) return start(pass, ofFork(self, ownArgs(self, named)));
    const args = ownArgs(self, named);
    const { command } = args.opts;
    if (command !== undefined) return spawnNative(pass, command, args);
    const { name = "", mcp = [] } = args.agent?.manifest ?? {};
    return guardServers(pass, { syscall: "Spawn", device: name, servers: mcp }, () => start(pass, args));
  },
};

/** It is what its parent is: its agent file, and its mode, unless less is wanted. */
function ofFork({ seed: { agent }, mode }: Process, { intent, opts }: LoadedArgs): LoadedArgs {
  const maxTurns = opts.maxTurns || agent?.manifest.maxSteps || LIMITS.childSteps;
  return { intent, agent, opts: { permissionMode: mode, ...opts, maxTurns } };
}

/**
 * A private copy of the parts that the guard judges. The agent's prompts are not copied: they may be long, and are
 * shared.
 */
function ownArgs(self: Process, { intent, agent, opts: { stdin, ...opts } }: LoadedArgs): LoadedArgs {
  return {
    intent,
    agent: agent === null ? null : withOwnServers(self, agent),
    opts: { ...ownCopy(self, "Spawn", opts), ...(stdin === undefined ? {} : { stdin }) },
  };
}

function withOwnServers(self: Process, agent: AgentInfo): AgentInfo {
  const mcp = ownCopy(self, "Spawn", agent.manifest.mcp);
  return { ...agent, manifest: { ...agent.manifest, mcp } };
}

async function start(
  { core, self, signal }: KernelPass<Starting>,
  args: LoadedArgs,
  isOutside = false,
): Promise<Pid> {
  return (await spawnProcess(core, { ...args, caller: self, more: { isOutside } }, signal)).pid;
}

function spawnNative(pass: KernelPass<Starting>, command: readonly string[], args: LoadedArgs): Promise<Pid> {
  const effectful = {
    syscall: "Spawn",
    device: command[0] ?? "",
    tool: EXEC_TOOL,
    effects: [execEffect(pass.self, command, args.opts)],
    effectClass: "once",
    input: JSON.stringify(command),
  } as const;
  return guard(pass, effectful, async (scope) => {
    const pid = await start(pass, args, scope.sandbox === null);
    attend(pass, scope, pid);
    return pid;
  });
}

/** The process ends when the user removes the grant that alone allowed it, if the user chose to. */
function attend({ core, self }: KernelPass<Starting>, scope: Scope, pid: Pid): void {
  const proc = core.table.get(pid);
  if (proc === undefined) return;
  const end = (): void => void core.deliver(proc, SIGNALS.SIGTERM).catch(() => {});
  const release = core.grants.attend(self, allowing({ core, self, scope }), end);
  proc.done.promise.finally(release).catch(() => {});
}

/** A program under /bin may start only what it declared. */
function checkDeclared(self: Process, program: string, scope: Scope): void {
  const effect = { kind: "spawn", program, background: false } as const;
  checkCovered(scope, [effect], { self, syscall: "Spawn", device: program });
}

function isLoaded(args: SpawnArgs): args is LoadedArgs {
  return typeof args.agent !== "string";
}

function nameOf({ agent, opts }: SpawnArgs): string {
  if (opts.fork?.label === FORK) return FORK;
  return typeof agent === "string" ? agent : (agent?.manifest.name ?? "");
}

/** Who waits takes no place from agents that have not begun. */
interface Idling {
  readonly admission: { idle(proc: object): () => void };
}

/**
 * Wait(pid): the exit status of a process once it has ended; reaps it. Cancelling the call leaves the process alone.
 */
const wait: KernelCall<"wait", { pid: Pid }, LabelKeeper & Reaping & Controlling & Idling> = {
  name: "Wait",
  take: (pid) => ({ pid }),
  args: ({ pid }) => ({ pid }),
  result: (exit) => exit.code,
  async run(pass, { pid }) {
    const { core, self } = pass;
    const proc = core.table.require(self.pid, pid, "Wait", "control");
    const waited = proc.awaited();
    const resumed = core.admission.idle(self);
    const exit = await abortable(proc.done.promise, pass.signal).finally(() => {
      waited();
      resumed();
    });
    // the waiting process receives its result, and so its labels
    addLabels(core, self, proc.labels);
    await abortable(reapProcess(core, proc), pass.signal);
    return exit;
  },
};

/** Finds the ends of processes that have left the table. */
interface Remembering extends Controlling, LabelKeeper {
  readonly table: Controlling["table"] & Pick<ProcessTable, "get" | "controls">;
  readonly ports: EndSearch["ports"] & Pick<KernelPorts, "clock" | "worktrees">;
}

/** The notice that a child has ended is dropped before it was read: the caller has just been told. */
function dropNotice({ ports: { journal } }: Remembering, self: Process, pid: Pid): void {
  const seq = self.mailbox?.noticeOf(pid);
  if (seq === undefined || self.mailbox?.withdraw(seq) === undefined) return;
  journal.note([{ proc: self.seed.uuid, pid: self.pid, kind: "mail.done", v: 1, body: { seq } }]);
}

/** Ended(pid): how a descendant ended, from the table or, once it has left that, from its history. */
const ended: KernelCall<"ended", { pid: Pid; isTold?: boolean; isSettled?: boolean }, Remembering> = {
  name: "Ended",
  take: (pid, options) => ({ pid, ...options }),
  args: ({ pid }) => ({ pid }),
  result: (how) => how?.exit.code ?? null,
  async run({ core, self, signal }, { pid, isTold = false, isSettled = false }) {
    const proc = core.table.get(pid);
    if (proc !== undefined) {
      core.table.require(self.pid, pid, "Ended", "control");
      const { exit, result, used, seed } = proc;
      if (exit === null) return null;
      addLabels(core, self, proc.labels);
      if (isTold) dropNotice(core, self, pid);
      const elapsedMs = proc.elapsedMs(core.ports.clock.mono());
      return {
        agentId: agentIdOf(seed.uuid),
        exit,
        result,
        tokensUsed: used.tokens,
        elapsedMs,
        ...usesOf(proc),
        ...treeOf(proc),
      };
    }
    const kept = await endOf(core, pid);
    if (kept === undefined || !(await isBelow(core, self.pid, kept.ppid))) throw unknown(self.pid, pid);
    const { agentId, exit, result, tokensUsed, elapsedMs, toolUses, labels = [], worktree } = kept;
    addLabels(core, self, labels);
    if (isTold) dropNotice(core, self, pid);
    const uses = toolUses === undefined ? {} : { toolUses };
    const how = { agentId, exit, result, tokensUsed, elapsedMs, ...uses };
    if (worktree === undefined) return how;
    const isThere = !isSettled || (await core.ports.worktrees?.isKept(worktree, signal)) !== false;
    return isThere ? { ...how, worktree } : how;
  },
};

/** Detach(pid): nobody waits for a child any more. */
const detachCall: KernelCall<"detach", { pid: Pid }, Controlling & Parameters<typeof detach>[0]> = {
  name: "Detach",
  take: (pid) => ({ pid }),
  args: ({ pid }) => ({ pid }),
  result: (isDetached) => isDetached,
  run: ({ core, self }, { pid }) => detach(core, core.table.require(self.pid, pid, "Detach", "control")),
};

/** Whether a process with this parent is below `pid`; some of those between may have left the table. */
async function isBelow(core: Remembering, pid: Pid, parent: Pid): Promise<boolean> {
  for (let at = parent; at !== PID_KERNEL; ) {
    if (core.table.controls(pid, at)) return true;
    const above = await endOf(core, at);
    if (above === undefined) return false;
    at = above.ppid;
  }
  return pid === PID_KERNEL;
}

function unknown(pid: Pid, of: Pid): SyscallError {
  return new SyscallError({ syscall: "Ended", pid, code: "NOT_FOUND", message: `process not found: ${of}` });
}

/** Reap(pid): frees a zombie without waiting. A second call is a no-op. */
const reap: KernelCall<"reap", { pid: Pid }, Reaping & Controlling> = {
  name: "Reap",
  take: (pid) => ({ pid }),
  args: ({ pid }) => ({ pid }),
  async run({ core, self }, { pid }) {
    const proc = core.table.require(self.pid, pid, "Reap", "control");
    if (proc.isLive) {
      const message = `process ${pid} is ${proc.state}, not a zombie`;
      throw new SyscallError({ syscall: "Reap", pid: self.pid, code: "CONFLICT", message });
    }
    await reapProcess(core, proc);
  },
};

/** Exit(code): ends the calling process. The call itself never returns. */
const exit: KernelCall<"exit", { code: number; reason: string }, Finishing> = {
  name: "Exit",
  take: (code, reason = "") => ({ code, reason }),
  args: ({ code }) => ({ code }),
  run({ core, self }, { code, reason }) {
    const { pid } = self;
    if (pid === PID_KERNEL) {
      throw new SyscallError({
        syscall: "Exit",
        pid,
        code: "PERMISSION",
        message: "the kernel does not exit by a call",
      });
    }
    if (!Number.isInteger(code) || code < 0 || code > 255) {
      throw new SyscallError({
        syscall: "Exit",
        pid,
        code: "INVALID",
        message: `exit code must be 0 to 255: ${code}`,
      });
    }
    const words = reason !== "" ? reason : code === 0 ? "completed" : `exit ${code}`;
    self.ending.decide({ code, reason: words, kind: "done" });
    self.life.close();
    endLive(core, self, LIMITS.termGraceMs);
    throw cancelled(self, "Exit");
  },
};

export const processCalls = { spawn, wait, ended, detach: detachCall, reap, exit };
