/** Open(flags, path): a device file for the caller. What opening itself would do passes the guard. */
import type { Caller, OpenFlag } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { VfsError } from "../../abi/errors.ts";
import type { Fd } from "../../abi/ids.ts";
import type { Core } from "../core.ts";
import type { Process } from "../process/process.ts";
import { narrowedTo } from "../process/rights.ts";
import type { Resolved } from "../vfs/registry.ts";
import type { Call, Pass } from "./call.ts";
import { invalid, vfsError } from "./errors.ts";
import { guard } from "./guard.ts";

export const open: Call<{ path: string; flags: OpenFlag }, Fd> = {
  name: "Open",
  args: ({ flags, path }) => ({ flags, path }),
  result: (fd) => fd,
  async run(core, self, { path, flags }, pass) {
    if (flags !== 0 && flags !== 1 && flags !== 2)
      throw invalid("Open", self, `not an open flag: ${String(flags)}`);
    const found = core.devices.resolve(path, "Open", self.pid);
    pass.trace.device = path;
    checkAllowed(self, found, path);
    self.fds.checkRoom(path);
    const caller = callerOf(core, self);
    const effects = await found.device.openEffects?.(found.subpath, flags, caller);
    if (effects === undefined || effects.length === 0) return attach(self, found, path, flags, caller);
    return openGuarded(core, self, { found, path, flags, caller, effects }, pass);
  },
};

function checkAllowed(self: Process, found: Resolved, path: string): void {
  if (narrowedTo(self, found.mount, path)) return;
  const message = `device not allowed: ${found.mount}`;
  throw new VfsError({ op: "Open", pid: self.pid, device: path, code: "PERMISSION", message });
}

interface Opening {
  readonly found: Resolved;
  readonly path: string;
  readonly flags: OpenFlag;
  readonly caller: Caller;
  readonly effects: readonly Effect[];
}

async function openGuarded(core: Core, self: Process, opening: Opening, pass: Pass): Promise<Fd> {
  const { found, path, flags, caller, effects } = opening;
  const effectClass = effects.every((effect) => effect.kind === "read" || effect.kind === "state")
    ? "none"
    : "probe";
  const effectful = {
    syscall: "Open",
    device: path,
    tool: found.device.name,
    effects,
    effectClass,
    input: "",
  } as const;
  return guard(
    core,
    self,
    effectful,
    pass,
    () => attach(self, found, path, flags, caller),
    () => undefined,
  );
}

async function attach(
  self: Process,
  found: Resolved,
  path: string,
  flags: OpenFlag,
  caller: Caller,
): Promise<Fd> {
  try {
    const file = await found.device.open(found.subpath, flags, caller);
    return self.fds.add({ file, path, mount: found.mount, traffic: found.device.traffic, flags }).fd;
  } catch (error) {
    throw vfsError("Open", self, path, error);
  }
}

export function callerOf(core: Core, self: Process): Caller {
  const { pid, seed, abort } = self;
  const { uuid, cwd, env, roots } = seed;
  const log: Caller["log"] = (level, message) => {
    const timestampMs = core.ports.clock.mono() - seed.createdMono;
    self.watchers.publish({ event: "log", pid, entry: { timestampMs, level, message } });
  };
  return { pid, uuid, cwd, env, roots, signal: abort.signal, log };
}
