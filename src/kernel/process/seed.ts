/** What a new process is from its first moment: everything comes from its parent, its program and the request, and narrows. */
import { PID_KERNEL } from "../../abi/ids.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import type { SpawnOpts } from "../../abi/sys.ts";
import { Account } from "../account/account.ts";
import type { Core } from "../core.ts";
import type { Body } from "./body.ts";
import type { Process, ProcessSeed } from "./process.ts";
import { devicesOf, intersect } from "./rights.ts";
import { Session } from "./session.ts";

export type Identity = Pick<ProcessSeed, "pid" | "uuid">;

export function seedOf(
  core: Core,
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
    mode: top
      ? (opts.permissionMode ?? core.ports.permitFor(cwd).defaultMode)
      : narrowest(rights.seed.mode, opts.permissionMode),
    allowedDevices: intersect(devicesOf(rights), agent?.allowedDevices ?? null),
    maxSteps: stepLimit(core, body, opts),
    // Negative counts as 0: then the agent file decides, else nothing does.
    account:
      account ??
      new Account(
        parent.seed.account,
        Math.max(0, opts.contextBudget ?? 0) || (manifest?.contextBudget ?? 0),
        { proc: uuid, pid },
      ),
    session: parent.pid === PID_KERNEL ? new Session({ proc: uuid, pid }) : parent.seed.session,
    onParentExit: opts.onParentExit ?? "reparent",
    ...(opts.session === true && body.kind === "agent" ? { isSession: true, client: opts.client ?? "" } : {}),
  };
}

function narrowest(parent: PermissionMode, wish: PermissionMode | undefined): PermissionMode {
  if (wish === undefined) return parent;
  return PERMISSION_MODES.indexOf(wish) < PERMISSION_MODES.indexOf(parent) ? wish : parent;
}

/** Of a session, for each run: none unless it is asked for. A person is there to end it. */
function stepLimit(core: Core, { kind, agent }: Body, { maxTurns = 0, session }: SpawnOpts): number {
  if (maxTurns > 0) return maxTurns;
  if (session === true && kind === "agent") return 0;
  return agent?.manifest.maxSteps || core.ports.defaultMaxSteps;
}
