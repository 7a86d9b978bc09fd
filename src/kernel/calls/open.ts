/** Open(flags, path): a device file for the caller. What opening itself would do passes the guard. */
import { type Caller, O_RDONLY, type OpenFlag } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { printed, VfsError } from "../../abi/errors.ts";
import type { CallId, Fd } from "../../abi/ids.ts";
import { abortable } from "../../lib/abort.ts";
import type { Core } from "../core.ts";
import { fileKeeper } from "../fork/snapshot.ts";
import type { Call, Pass } from "../gate/call.ts";
import { invalid, vfsError } from "../gate/errors.ts";
import { guard } from "../gate/guard.ts";
import { hidden } from "../gate/hidden.ts";
import type { Process } from "../process/process.ts";
import { narrowedTo } from "../process/rights.ts";
import { seenFilesOf } from "../process/seen-files.ts";
import { keptValues } from "../recover/kept-values.ts";
import type { Resolved } from "../vfs/registry.ts";

export const open: Call<{ path: string; flags: OpenFlag }, Fd> = {
  name: "Open",
  holds: true,
  args: ({ flags, path }) => ({ flags, path }),
  result: (fd) => fd,
  async run(core, self, { path, flags }, pass) {
    if (flags !== 0 && flags !== 1 && flags !== 2)
      throw invalid("Open", self, `not an open flag: ${String(flags)}`);
    const found = core.devices.resolve(path, "Open", self.pid);
    pass.trace.device = path;
    checkAllowed(core, self, found, path, "Open");
    const release = self.fds.claim(path);
    try {
      const opening = { found, path, flags, caller: callerOf(core, self, pass.scope?.callId) };
      const effects = await effectsOf(self, opening, pass);
      if (effects.length === 0) return await attach(core, self, opening, pass);
      return await openGuarded(core, self, opening, effects, pass);
    } finally {
      release();
    }
  },
};

/** Another's mount is not there; what lies outside its list is refused. */
export function checkAllowed(core: Core, self: Process, found: Resolved, path: string, op: string): void {
  if (!core.mounts.isVisible(self, found.mount)) {
    const message = `device not found: ${path}`;
    throw new VfsError({ op, pid: self.pid, device: path, code: "NOT_FOUND", message });
  }
  if (narrowedTo(self, found.mount, path)) return;
  const message = `device not allowed: ${found.mount}`;
  throw new VfsError({ op, pid: self.pid, device: path, code: "PERMISSION", message });
}

interface Opening {
  readonly found: Resolved;
  readonly path: string;
  readonly flags: OpenFlag;
  readonly caller: Caller;
}

async function effectsOf(self: Process, opening: Opening, pass: Pass): Promise<readonly Effect[]> {
  const { found, path, flags, caller } = opening;
  try {
    if (pass.scope !== null && flags === O_RDONLY && found.device.shownEffects !== undefined)
      return found.device.shownEffects(found.subpath);
    return (await found.device.openEffects?.(found.subpath, flags, caller)) ?? [];
  } catch (error) {
    throw vfsError("Open", self, path, error, pass.signal);
  }
}

async function openGuarded(
  core: Core,
  self: Process,
  opening: Opening,
  effects: readonly Effect[],
  pass: Pass,
): Promise<Fd> {
  const { found, path } = opening;
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
    async ({ inflow }) => {
      const fd = await attach(core, self, opening, pass);
      inflow?.opened();
      self.fds.find(fd, "Open").inflow = inflow ?? null;
      return fd;
    },
    () => undefined,
  );
}

async function attach(core: Core, self: Process, opening: Opening, pass: Pass): Promise<Fd> {
  const { found, path, flags, caller } = opening;
  const opened = (async () => found.device.open(found.subpath, flags, caller))();
  try {
    const file = await abortable(opened, pass.signal);
    return self.fds.add({ file, path, mount: found.mount, traffic: found.device.traffic, flags }).fd;
  } catch (error) {
    // Nobody will hold the file, if it comes to be one: it is closed as soon as it is open.
    const closed = opened.then(
      (file) => file.close(),
      () => {},
    );
    closed.catch((late) => core.ports.log("warn", `pid ${self.pid}: close: ${printed(late)}`));
    throw vfsError("Open", self, path, error, pass.signal);
  }
}

const VIOLATION_CHARS = 2_000;

/** `call`: the one that its changes of files belong to. */
export function callerOf(core: Core, self: Process, call?: CallId): Caller {
  const { pid, seed, abort, killed } = self;
  const { uuid, cwd, env, roots } = seed;
  const log: Caller["log"] = (level, message) => self.log(level, message, core.ports.clock.mono());
  const changing = fileKeeper(core, self, call);
  const known = {
    pid,
    uuid,
    cwd,
    env,
    roots,
    signal: abort.signal,
    killed: killed.signal,
    log,
    violation: (text: string) =>
      core.note(self, "sandbox.violation", { text: self.wording(text).slice(0, VIOLATION_CHARS) }),
    kept: keptValues(core, self),
    hides: hidden(core, self),
  };
  if (seed.kind !== "agent") return changing === undefined ? known : { ...known, changing };
  const agent = {
    mode: self.mode,
    interactive: core.asks.canAsk(self),
    isSession: seed.isSession === true,
    model: {
      device: self.modelDevice,
      name: self.model,
      supportsImages: core.ports.models.supportsImages?.(self.modelDevice, self.model, env) ?? false,
    },
    seen: seenFilesOf(core, self),
  };
  return { ...known, ...agent, ...(changing === undefined ? {} : { changing }) };
}
