/** A process as the permission policy sees it at this moment. */
import type { Rights } from "../../abi/rights.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { PermitRequest, Subject } from "../ports/permit.ts";
import { isMemoryOff } from "./memory-off.ts";
import type { Process } from "./process.ts";
import { judgesPlan } from "./rights/auto-mode.ts";
import type { Granted } from "./rights/granted.ts";
import { isAbove } from "./rights/narrow.ts";
import { devicesOf } from "./rights/rights.ts";
import { skillsInUse } from "./skills-in-use.ts";
import { rightsHere } from "./tree/entered.ts";
import { scratchpadOf } from "./tree/scratchpad.ts";

/** What `subjectOf` needs besides the process. */
export interface Granting {
  readonly ports: Pick<KernelPorts, "classifier" | "models" | "permitFor" | "scratchpads">;
  readonly grants: { of(self: Process): Granted };
}

/** `granted`: what the user has granted since the spawn; absent: the current grants. */
export function subjectOf(core: Granting, self: Process, granted: Granted = core.grants.of(self)): Subject {
  const { cwd, roots } = self;
  const { scratch, env } = self.seed;
  const shared = scratchpadOf(core.ports, self);
  return {
    pid: self.pid,
    mode: self.mode,
    cwd,
    roots,
    free: scratch === "" ? [] : [scratch],
    ...(shared === null ? {} : { shared }),
    programs: (env.PATH ?? "").split(":").filter((dir) => dir.startsWith("/")),
    allowedDevices: devicesOf(self),
    rights: rightsNow(core, self, granted),
    ...(judgesPlan(core, self) ? { judgesPlan: true as const } : {}),
    grants: [...granted.allow, ...skillsInUse(self).rules],
    ...(self.labels.length === 0 ? {} : { labels: self.labels }),
  };
}

/** The sandbox by the current rights. PERMISSION: a protected file cannot be protected. */
export function sandboxOf(core: Granting, self: Process, request: PermitRequest): SandboxProfile | null {
  return core.ports.permitFor(self.seed.cwd).sandbox?.(subjectOf(core, self), request) ?? null;
}

/** Caches the last result: the policy parses rules once per `Rights` object, so equal rights must be one object. */
const NOW = new WeakMap<Process, { readonly key: string; readonly rights: Rights }>();

/** The rights of the spawn, with later denies and asks, a mode raised by the user, and the servers it has mounted. */
function rightsNow(core: Granting, self: Process, { deny, ask }: Granted): Rights {
  const rights = rightsHere(core, self);
  const isHome = rights === self.seed.rights;
  const isRaised = isAbove(self.mode, rights.mode);
  const mounts = rights.devices === null ? 0 : (self.mounts?.size ?? 0);
  const isOff = isMemoryOff(self);
  const isSame = isHome && !isRaised && isOff === (rights.noMemory === true);
  if (isSame && mounts === 0 && deny.length === 0 && ask.length === 0) return rights;
  const mode = isRaised ? self.mode : rights.mode;
  const devices = devicesOf(self);
  const key = JSON.stringify([mode, devices, deny, ask, isOff, isHome ? null : rights]);
  const known = NOW.get(self);
  if (known?.key === key) return known.rights;
  const made = {
    ...{ ...rights, mode, devices, deny: [...rights.deny, ...deny], ask: [...rights.ask, ...ask] },
    ...(isOff ? { noMemory: true as const } : {}),
  };
  NOW.set(self, { key, rights: made });
  return made;
}
