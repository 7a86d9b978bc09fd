/** What a new process is from its first moment: everything comes from its parent, its program and the request, and narrows. */

import { PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { SpawnOpts } from "../../../abi/sys.ts";
import { Account } from "../../account/account.ts";
import { spawnLimits } from "../../account/spawn-limits.ts";
import type { Core } from "../../core.ts";
import { wordingOf } from "../../redact/model-bound.ts";
import type { Body } from "../body.ts";
import type { Process } from "../process.ts";
import type { ProcessSeed } from "../process-seed.ts";
import { givenRights } from "../rights/given-rights.ts";
import { Session } from "../session.ts";

export type Identity = Pick<ProcessSeed, "pid" | "uuid">;

export function seedOf(
  core: Core,
  caller: Process,
  parent: Process,
  { pid, uuid }: Identity,
  intent: string,
  body: Body,
  opts: SpawnOpts,
  account?: Account,
  /** Of whose rights it gets part. */
  rights: Process = parent,
): ProcessSeed {
  const { clock, scratchDir, home, realPath, additionalRoots, env } = core.ports;
  const top = rights.pid === PID_KERNEL;
  const cwd = opts.cwd ?? (top ? home : rights.seed.cwd);
  const scratch = body.kind === "agent" || body.kind === "native" ? scratchDir(uuid) : "";
  const { agent } = body;
  const manifest = agent?.manifest;
  const roots = [realPath(cwd), ...(top ? additionalRoots.map(realPath) : rights.seed.roots)];
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
      ...(opts.env ?? (top ? env : rights.seed.env)),
      ...(scratch === "" ? {} : { CRUX_SCRATCH: scratch }),
    },
    ...givenRights({ core, caller, giver: rights, body, opts, cwd }),
    line: lineBelow(parent),
    maxSteps: stepLimit(core, body, opts),
    account:
      account ??
      new Account(parent.seed.account, spawnLimits(core, parent, body, opts), {
        owner: { proc: uuid, pid },
        givesAll: body.kind !== "agent",
      }),
    session: parent.pid === PID_KERNEL ? new Session({ proc: uuid, pid }) : parent.seed.session,
    wording: wordingOf(core),
    onParentExit: opts.onParentExit ?? "reparent",
    ...(isConfined(rights) ? { confined: true } : {}),
    ...(opts.session === true && body.kind === "agent" ? { isSession: true, client: opts.client ?? "" } : {}),
  };
}

/** The kernel is above all, and no part of it. */
export function lineBelow({ pid, seed }: Process): readonly Pid[] {
  return pid === PID_KERNEL ? [] : [pid, ...seed.line];
}

/** What an agent starts is confined, and what that starts; what a person starts is not. */
function isConfined({ pid, seed }: Process): boolean {
  if (pid === PID_KERNEL) return false;
  return seed.kind === "agent" || seed.kind === "supervisor" || seed.confined === true;
}

/** Of a session, for each run: none unless it is asked for. A person is there to end it. */
function stepLimit(core: Core, { kind, agent }: Body, { maxTurns = 0, session }: SpawnOpts): number {
  if (maxTurns > 0) return maxTurns;
  if (session === true && kind === "agent") return 0;
  return agent?.manifest.maxSteps || core.ports.defaultMaxSteps;
}
