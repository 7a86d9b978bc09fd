/** The calls of files. */
import {
  type Act,
  type Caller,
  type FileStat,
  O_RDONLY,
  type OpenFlag,
  type WritePlan,
} from "../../abi/device.ts";
import type { Charge, Effect } from "../../abi/effects.ts";
import { printed, VfsError } from "../../abi/errors.ts";
import { FORK } from "../../abi/fork.ts";
import type { CallId, Fd } from "../../abi/ids.ts";
import type { Stall, StreamEvent } from "../../abi/llm.ts";
import type { SkillShelf, SkillsInReach } from "../../abi/skill.ts";
import { abortable, linkSignals } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import { hasMark } from "../../lib/redact/redact.ts";
import { CallTold, type Telling } from "../gate/call-told.ts";
import { covers } from "../gate/covers.ts";
import { Edited } from "../gate/edited.ts";
import { invalid, vfsError } from "../gate/errors.ts";
import type { KernelCall } from "../gate/gate.ts";
import { guard } from "../gate/guard.ts";
import { hidden } from "../gate/hidden.ts";
import type { Gatekeeping, KernelPass } from "../gate/passage.ts";
import { allowing } from "../gate/permit.ts";
import type { Scope } from "../gate/scope.ts";
import { uniteLabels } from "../labels/label-set.ts";
import { addLabels, type LabelKeeper } from "../labels/labelled.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { keptValues, type ValueKeeping } from "../process/kept-values.ts";
import type { Process } from "../process/process.ts";
import { narrowedTo } from "../process/rights/rights.ts";
import { type Seeing, seenFilesOf } from "../process/seen-files.ts";
import { hasTyped, skillsInUse } from "../process/skills-in-use.ts";
import { mayFork } from "../process/spawn/fork.ts";
import { redactedBytes, showSecrets } from "../redact/model-bound.ts";
import type { FdEntry } from "../vfs/fd-table.ts";
import type { Resolved } from "../vfs/registry.ts";
import { guidedOf } from "./guide.ts";

/** The parts of the kernel that files use. */
export type Filing = Gatekeeping &
  Telling &
  LabelKeeper &
  ValueKeeping &
  Seeing & {
    readonly ports: Pick<KernelPorts, "guides">;
    note(proc: Process, kind: "sandbox.violation", body: unknown): void;
    /** Keeps the old content of files that the process changes; `call`: the call that changes them. */
    changing(self: Process, call: CallId | undefined): Caller["changing"];
  };

/** Open(flags, path): a device file for the caller. The effects of opening itself pass the guard. */
export const open: KernelCall<"open", { path: string; flags: OpenFlag }, Filing> = {
  name: "Open",
  holds: true,
  take: (path, flags) => ({ path, flags }),
  args: ({ flags, path }) => ({ flags, path }),
  result: (fd) => fd,
  async run(pass, { path, flags }) {
    const { core, self } = pass;
    if (flags !== 0 && flags !== 1 && flags !== 2)
      throw invalid({ op: "Open", self }, `not an open flag: ${String(flags)}`);
    const found = core.devices.resolve(path, "Open", self.pid);
    pass.trace.device = path;
    checkAllowed(pass, found, { op: "Open", path });
    const release = self.fds.claim(path);
    try {
      const opening = { found, path, flags, caller: callerOf(core, self, pass.scope?.callId) };
      const effects = await effectsOf(pass, opening);
      return await (effects.length === 0 ? attach(pass, opening) : openGuarded(pass, opening, effects));
    } finally {
      release();
    }
  },
};

/** NOT_FOUND: a mount that the caller may not see. PERMISSION: a path outside the caller's list of devices. */
function checkAllowed(
  { core, self }: KernelPass<Filing>,
  found: Resolved,
  { op, path }: { readonly op: string; readonly path: string },
): void {
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

async function effectsOf(
  { self, scope, signal }: KernelPass<Filing>,
  opening: Opening,
): Promise<readonly Effect[]> {
  const { found, path, flags, caller } = opening;
  try {
    if (scope !== null && flags === O_RDONLY && found.device.shownEffects !== undefined)
      return found.device.shownEffects(found.subpath);
    return (await found.device.openEffects?.(found.subpath, flags, caller)) ?? [];
  } catch (error) {
    throw vfsError({ op: "Open", self, device: path }, error, signal);
  }
}

async function openGuarded(
  pass: KernelPass<Filing>,
  opening: Opening,
  effects: readonly Effect[],
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
  return guard(pass, effectful, async ({ inflow, effects: permitted }) => {
    const caller: Caller = { ...opening.caller, covers: (effect) => covers(permitted, effect) };
    const fd = await attach(pass, { ...opening, caller });
    inflow?.opened();
    pass.self.fds.find(fd, "Open").inflow = inflow ?? null;
    return fd;
  });
}

async function attach({ core, self, signal }: KernelPass<Filing>, opening: Opening): Promise<Fd> {
  const { found, path, flags, caller } = opening;
  const opened = (async () => found.device.open(found.subpath, flags, caller))();
  try {
    const file = await abortable(opened, signal);
    return self.fds.add({ file, path, mount: found.mount, traffic: found.device.traffic, flags }).fd;
  } catch (error) {
    // Nobody will hold the file if it does open: close it as soon as it is open.
    const closed = opened.then(
      (file) => file.close(),
      () => {},
    );
    closed.catch((late) => core.ports.log("warn", `pid ${self.pid}: close: ${printed(late)}`));
    throw vfsError({ op: "Open", self, device: path }, error, signal);
  }
}

const VIOLATION_CHARS = 2_000;

/** `call`: the call that the caller's file changes belong to. */
function callerOf(core: Filing, self: Process, call?: CallId): Caller {
  const { pid, seed, abort, killed, cwd, roots } = self;
  const { uuid, env } = seed;
  const log: Caller["log"] = (level, message) => self.log(level, message, core.ports.clock.mono());
  const changing = core.changing(self, call);
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
    isChild: seed.child !== undefined,
    ...(seed.agent === null ? {} : { agent: seed.agent.manifest.name }),
    forksUnnamed: seed.fork?.label === FORK || mayFork(core, self),
    model: {
      device: self.model.device,
      name: self.model.name,
      supportsImages: core.ports.models.supportsImages?.(self.model.device, self.model.name, env) ?? false,
    },
    seen: seenFilesOf(core, self),
    skills: () => skillsOf(core, self),
    preview: () => previewOf(core, self),
    stalled: (stall: Stall) =>
      self.tell({ event: "llm.stall", pid: self.pid, ...stall }, core.ports.clock.mono()),
    ...(self.past.origin === null ? {} : { prefixOf: self.past.origin.from }),
  };
  return { ...known, ...agent, ...(changing === undefined ? {} : { changing }) };
}

async function skillsOf(core: Filing, self: Process): Promise<SkillsInReach> {
  const shelf = (await core.ports.guides?.skills?.(guidedOf(core, self))) ?? NO_SKILLS;
  return {
    ...shelf,
    session: self.seed.uuid,
    isTyped: (name) => hasTyped(self, name),
    inUse: () => [...skillsInUse(self).names],
  };
}

const NO_SKILLS: SkillShelf = { find: () => undefined, names: () => [], used: () => {} };

/** The reply of an attempt, piece by piece: counted, kept, and told to those who follow it. */
function previewOf(core: Filing, self: Process): (piece: StreamEvent) => void {
  const { pid, used, watchers } = self;
  used.begins();
  return (piece) => {
    used.comes(piece);
    const event = { event: "delta", pid, piece } as const;
    watchers.keep(event);
    if (watchers.follows("deltas")) self.tell(event, core.ports.clock.mono());
  };
}

/** Read(fd, length): up to `length` bytes; empty is the end. */
export const read: KernelCall<"read", { fd: Fd; length: number }, Filing> = {
  name: "Read",
  take: (fd, length) => ({ fd, length }),
  args: ({ fd, length }) => ({ fd, length }),
  result: (bytes) => bytes.byteLength,
  async run(pass, { fd, length }) {
    const { core, self } = pass;
    const entry = self.fds.find(fd, "Read");
    pass.trace.device = entry.path;
    pass.trace.traffic = entry.traffic;
    const at = { op: "Read", self, device: entry.path };
    if (entry.flags === 1) throw invalid(at, "fd is not open for reading");
    if (!Number.isInteger(length) || length < 1 || length > LIMITS.readBytes)
      throw invalid(at, `length must be 1 to ${LIMITS.readBytes}: ${length}`);
    using linked = linkSignals(pass.signal, entry.closing.signal);
    const { signal } = linked;
    try {
      const reading = entry.calls.read.run(() => entry.file.read(length, signal), signal);
      const bytes = await (entry.file.heedsSignal === true ? reading : abortable(reading, signal));
      if (bytes.byteLength > 0) entry.inflow?.came();
      tellRead(pass, entry, bytes.byteLength);
      addLabels(core, self, entry.file.carried?.labels ?? []);
      return presentable(pass, entry, bytes);
    } catch (error) {
      entry.inflow?.failed(error);
      throw vfsError(at, error, signal);
    }
  },
};

/**
 * Redacts what an agent's program reads, because it goes to the model and the journal. Model replies stay as they are.
 */
function presentable(
  { core, self, scope }: KernelPass<Filing>,
  entry: FdEntry,
  bytes: Uint8Array,
): Uint8Array {
  if (scope !== null || self.seed.kind !== "agent" || isWithin("/dev/llm", entry.mount)) return bytes;
  if (entry.isSecret === true) showSecrets(core, self, bytes);
  return redactedBytes(core, self, bytes);
}

/** The first read after a write to a program or a shell completes one tool call on the verbose screen. */
function tellRead({ core, self }: KernelPass<Filing>, entry: FdEntry, outBytes: number): void {
  const { lastWrite } = entry;
  if (lastWrite === null) return;
  entry.lastWrite = null;
  const mono = core.ports.clock.mono();
  const durationMs = mono - lastWrite.began;
  const { pid } = self;
  const inBytes = lastWrite.bytes;
  self.tell({ event: "tool", pid, device: entry.path, inBytes, outBytes, durationMs }, mono);
}

const HARMLESS: WritePlan = { effects: [], effectClass: "none" };

/** Write(fd, size): hands data to a file. The file plans the effects; the guard decides; then the file acts. */
export const write: KernelCall<"write", { fd: Fd; data: Uint8Array }, Filing> = {
  name: "Write",
  holds: true,
  take: (fd, data) => ({ fd, data }),
  args: ({ fd, data }) => ({ fd, size: data.byteLength }),
  async run(pass, { fd, data }) {
    const { core, self } = pass;
    const entry = self.fds.find(fd, "Write");
    pass.trace.device = entry.path;
    pass.trace.traffic = entry.traffic;
    const at = { op: "Write", self, device: entry.path };
    if (entry.flags === 0) throw invalid(at, "fd is not open for writing");
    if (data.byteLength > LIMITS.writeBytes)
      throw invalid(at, `${data.byteLength} bytes; at most ${LIMITS.writeBytes}`);
    const began = core.ports.clock.mono();
    // The fd's closing counts too: it withdraws a question that is still open.
    using linked = linkSignals(pass.signal, entry.closing.signal);
    const { signal } = linked;
    // What was permitted must be what is done: the caller cannot change this copy of the bytes.
    const own = new Uint8Array(data);
    // A write by a program within its own call is not a call of the agent.
    const told = pass.scope === null && isToolLike(entry) ? new CallTold(core, self, entry) : undefined;
    try {
      const act = (): Promise<void> => writeEdited({ ...pass, signal, entry, told }, own);
      await entry.calls.write.run(act, signal);
    } catch (thrown) {
      const error = vfsError(at, thrown, signal);
      told?.failed(error);
      throw error;
    } finally {
      entry.busyMs += core.ports.clock.mono() - began;
    }
    if (told === undefined) return;
    told.over();
    entry.lastWrite = { bytes: data.byteLength, began };
  },
};

interface Writing extends KernelPass<Filing> {
  readonly entry: FdEntry;
  /** Set for a tool call. */
  readonly told: CallTold | undefined;
}

/**
 * If the user changes the arguments, the call is decided again from the start; nothing of the first decision applies.
 */
async function writeEdited(writing: Writing, first: Uint8Array): Promise<void> {
  const { core, self, entry } = writing;
  for (let data = first; ; ) {
    try {
      return await writeGuarded(writing, data);
    } catch (error) {
      if (!(error instanceof Edited)) throw error;
      data = Buffer.from(JSON.stringify(error.input));
      self.log("info", `arguments changed by the user: ${entry.path}`, core.ports.clock.mono());
    }
  }
}

async function writeGuarded(writing: Writing, data: Uint8Array): Promise<void> {
  const { core, self, entry, told } = writing;
  const plan = (await entry.file.plan?.(data)) ?? HARMLESS;
  told?.planned(plan);
  // For the journal and the classifier. A model request repeats the whole context, which the journal already has.
  const isKept = plan.effects.length > 0 && !plan.effects.some((effect) => effect.kind === "llm");
  const input = isKept ? Buffer.from(data).toString("utf8") : "";
  const charge = () => entry.file.charge?.();
  const effectful = { ...plan, syscall: "Write", device: entry.path, input, charge };
  if (writing.scope === null) checkMarks(writing, plan, data);
  const act = (scope: Scope, granted?: Charge): Promise<void> => {
    if (writing.scope === null && scope.isSecret === true) entry.isSecret = true;
    entry.inflow = scope.inflow ?? null;
    const box = entry.file.carried;
    if (box !== undefined) box.labels = uniteLabels(box.labels, self.labels);
    const hands: Act = {
      signal: writing.signal,
      callId: scope.callId,
      covers: (effect) => covers(scope.effects, effect),
      sandbox: scope.sandbox ?? null,
      attend: (end) => core.grants.attend(self, allowing({ core, self, scope }), end),
      ...(scope.env === undefined ? {} : { env: scope.env }),
      ...(scope.isSecret === true ? { showsSecrets: true as const } : {}),
      ...(granted === undefined ? {} : { granted }),
      ...(scope.slot === undefined ? {} : { lane: scope.slot }),
      ...(told === undefined ? {} : { printed: told.begins() }),
      sys: core.handle(self, scope),
    };
    return entry.file.write(data, hands);
  };
  await guard(writing, effectful, act);
}

const LASTING: ReadonlySet<string> = new Set(["write", "exec", "network", "mcp"]);

/** Refuses a write that would put a redaction mark in the place of a secret. */
function checkMarks({ self, entry }: Writing, { effects }: WritePlan, data: Uint8Array): void {
  if (self.seed.kind !== "agent" || !effects.some(({ kind }) => LASTING.has(kind))) return;
  if (!hasMark(Buffer.from(data).toString("utf8"))) return;
  const message =
    "the arguments hold [redacted:…], which stands for a secret that is not known here; it would be put in the secret's place. Leave that part as it is, or name a variable or file that holds the secret";
  throw invalid({ op: "Write", self, device: entry.path }, message);
}

function isToolLike(entry: FdEntry): boolean {
  return isWithin("/bin", entry.mount) || entry.mount === "/dev/shell" || entry.mount.startsWith("/mnt/mcp/");
}

/** Close(fd): the fd leaves the table first; then the device closes the file. A second call is NOT_FOUND. */
export const close: KernelCall<"close", { fd: Fd }> = {
  name: "Close",
  take: (fd) => ({ fd }),
  args: ({ fd }) => ({ fd }),
  async run({ self, signal, trace }, { fd }) {
    const entry = self.fds.find(fd, "Close");
    trace.device = entry.path;
    try {
      await self.fds.close(fd);
    } catch (error) {
      throw vfsError({ op: "Close", self, device: entry.path }, error, signal);
    }
  },
};

/** Stat(path): no open needed. What it reads outside Crux passes the guard. */
const stat: KernelCall<"stat", { path: string }, Filing> = {
  name: "Stat",
  quiet: true,
  take: (path) => ({ path }),
  args: ({ path }) => ({ path }),
  result: (found) => found.size,
  async run(pass, { path }) {
    const { core, self } = pass;
    const found = core.devices.resolve(path, "Stat", self.pid);
    checkAllowed(pass, found, { op: "Stat", path });
    const { device, subpath, mount } = found;
    const caller = callerOf(core, self);
    const look = async (seer: Caller): Promise<FileStat> => {
      if (device.stat === undefined) return { name: device.name, size: 0, isDevice: true, devicePath: mount };
      return { ...(await abortable(device.stat(subpath, seer), pass.signal)), devicePath: mount };
    };
    try {
      const effects = device.statEffects?.(subpath, caller) ?? [];
      if (effects.length === 0) return await look(caller);
      const asked = { syscall: "Stat", device: path, tool: device.name, effects, input: "" };
      return await guard(pass, { ...asked, effectClass: "none" }, ({ effects: permitted }) =>
        look({ ...caller, covers: (effect) => covers(permitted, effect) }),
      );
    } catch (error) {
      throw vfsError({ op: "Stat", self, device: path }, error, pass.signal);
    }
  },
};

export const fileCalls = { open, read, write, close, stat };
