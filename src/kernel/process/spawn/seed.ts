/** The seed of a new process, derived from its parent, its program and the request; rights only narrow. */

import { agentIdOf } from "../../../abi/child.ts";
import { SyscallError } from "../../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../../abi/ids.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import type { Worktree } from "../../../abi/worktree.ts";
import { isWithin } from "../../../lib/path.ts";
import { Account } from "../../account/account.ts";
import { spawnLimits } from "../../account/spawn-limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { wordingOf } from "../../redact/model-bound.ts";
import type { Body } from "../body.ts";
import type { Process } from "../process.ts";
import type { ProcessSeed } from "../process-seed.ts";
import { givenRights } from "../rights/given-rights.ts";
import { Session } from "../session.ts";
import type { ProcessTable } from "../table.ts";

/** The parts of the outside that a seed is made from. */
export interface Seeding {
  readonly ports: Pick<
    KernelPorts,
    | ("clock" | "scratchDir" | "home" | "realPath" | "env")
    | ("permitFor" | "budget" | "redactor" | "defaultMaxSteps")
  >;
}

export type Identity = Pick<ProcessSeed, "pid" | "uuid">;

/** A process that is about to begin: from whom it comes, and what it runs. */
export interface Birth {
  /** The process that requests the spawn. */
  readonly caller: Process;
  readonly parent: Process;
  /** The process whose rights it gets in part. */
  readonly giver: Process;
  readonly intent: string;
  readonly body: Body;
  readonly opts: SpawnOpts;
  /** undefined: it gets a new one below that of its parent. */
  readonly account: Account | undefined;
  /** The worktree in which it works; the checkout beside it is closed to it. */
  readonly worktree?: Worktree | undefined;
}

interface Naming {
  readonly ports: Pick<KernelPorts, "journal">;
  readonly table: Pick<ProcessTable, "all">;
}

/** For the uuid that a client chooses: no process has it, and the journal knows of none that had it. */
export async function checkNew(core: Naming, caller: Pick<Process, "pid">, uuid: ProcUuid): Promise<void> {
  const { pid } = caller;
  const message = "only the kernel's clients may choose a uuid";
  if (pid !== PID_KERNEL) throw new SyscallError({ syscall: "Spawn", pid, code: "PERMISSION", message });
  checkUnused(core, caller, uuid);
  if ((await core.ports.journal.row(uuid)) !== undefined) throw used(caller, uuid);
}

/** The part of it that is made again where nothing can come between it and the entry in the table. */
export function checkUnused(
  { table }: Pick<Naming, "table">,
  caller: Pick<Process, "pid">,
  uuid: ProcUuid,
): void {
  const id = agentIdOf(uuid);
  for (const { seed } of table.all()) if (agentIdOf(seed.uuid) === id) throw used(caller, uuid);
}

function used({ pid }: Pick<Process, "pid">, uuid: ProcUuid): Error {
  const message = `a process with this uuid exists, or has existed: ${uuid}`;
  return new SyscallError({ syscall: "Spawn", pid, code: "CONFLICT", message });
}

export function seedOf(core: Seeding, { pid, uuid }: Identity, birth: Birth): ProcessSeed {
  const { caller, parent, giver, intent, body, opts, account, worktree } = birth;
  const { clock, scratchDir, home, realPath, env } = core.ports;
  const top = giver.pid === PID_KERNEL;
  const cwd = opts.cwd ?? (top ? home : giver.cwd);
  const scratch = body.kind === "agent" || body.kind === "native" ? scratchDir(uuid) : "";
  const { agent } = body;
  const manifest = agent?.manifest;
  const given = top ? (opts.dirs ?? []).map(realPath) : giver.roots;
  const baseEnv = opts.env ?? (top ? env : giver.seed.env);
  const roots = [
    realPath(cwd),
    ...given.filter((dir) => worktree === undefined || !isWithin(worktree.main, dir)),
  ];
  return {
    pid,
    uuid,
    kind: body.kind,
    body,
    intent,
    agent,
    skills: manifest?.skills ?? [],
    createdAt: new Date(clock.now()),
    createdMono: clock.mono(),
    cwd,
    roots: [...new Set(roots)],
    scratch,
    env: {
      ...baseEnv,
      ...(scratch === "" ? {} : { CRUX_SCRATCH: scratch }),
    },
    ...givenRights({ core, caller, giver, body, opts, cwd, env: baseEnv, worktree }),
    line: lineBelow(parent),
    maxSteps: stepLimit(core, body, opts),
    account:
      account ??
      new Account(parent.seed.account, spawnLimits(core, birth), {
        owner: { proc: uuid, pid },
        givesAll: body.kind !== "agent",
      }),
    session: parent.pid === PID_KERNEL ? new Session({ proc: uuid, pid }) : parent.seed.session,
    wording: wordingOf(core),
    ...agentsOf(birth),
    onParentExit: opts.fork === undefined ? (opts.onParentExit ?? "reparent") : "terminate",
    ...(opts.fork === undefined ? {} : { fork: opts.fork }),
    ...((opts.timeoutMs ?? 0) > 0 ? { isTimed: true } : {}),
    ...(isConfined(giver) || opts.options?.confined === true ? { confined: true } : {}),
    ...(opts.child === undefined || body.kind !== "agent" ? {} : { child: opts.child }),
    ...(opts.session === true && body.kind === "agent" ? { isSession: true, client: opts.client ?? "" } : {}),
  };
}

/** Only the user gives some; a process passes on what it has. */
function agentsOf({ caller, giver, opts }: Birth): Pick<ProcessSeed, "agents"> {
  const agents = (caller.pid === PID_KERNEL ? opts.agents : undefined) ?? giver.seed.agents;
  return agents === undefined ? {} : { agents };
}

/** The ancestors of a child of this process, nearest first. The kernel is not included. */
export function lineBelow({ pid, seed }: Process): readonly Pid[] {
  return pid === PID_KERNEL ? [] : [pid, ...seed.line];
}

/** Processes started by an agent are confined, with all their descendants; those started by the user are not unless asked for. */
function isConfined({ pid, seed }: Process): boolean {
  if (pid === PID_KERNEL) return false;
  return seed.kind === "agent" || seed.kind === "supervisor" || seed.confined === true;
}

/** 0: no limit. A session has no limit per run unless one is requested: the user is there to stop it. */
function stepLimit(core: Seeding, { kind, agent }: Body, { maxTurns = 0, session }: SpawnOpts): number {
  if (maxTurns > 0) return maxTurns;
  if (session === true && kind === "agent") return 0;
  return agent?.manifest.maxSteps || core.ports.defaultMaxSteps;
}
