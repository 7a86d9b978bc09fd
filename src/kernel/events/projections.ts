/**
 * What the events amount to (kernel IPC chapter, 7.6): a pure fold, one function for each state. All states are plain
 * data, so that they can be stored, and bounded: what has ended longest ago is forgotten first.
 */
import type { KernelEvent } from "../ports/events.ts";
import type { Intent, Outcome } from "../ports/intents.ts";

/** Ended processes and intents that a state keeps, and names under which progress is kept. */
const KEPT = 1_000;

type Data = Readonly<Record<string, unknown>>;

/** A program as its events tell. */
interface ProcessFold {
  readonly id: string;
  readonly pid: number;
  readonly ppid: number;
  readonly osPid: number | null;
  readonly kind: "native";
  readonly state: string;
  readonly activity: string | null;
  readonly command: readonly string[] | null;
  readonly cwd: string;
  readonly pty: boolean;
  readonly startedAt: number;
  readonly elapsedMs: number;
  readonly ready: boolean;
  readonly usage: unknown;
  readonly exit: Data | null;
  readonly intentId: string | null;
  /** Open while it runs; how much it has written is known at its end. */
  readonly streams: { readonly stdin: FlowFold; readonly stdout: FlowFold; readonly stderr: FlowFold };
}

interface FlowFold {
  readonly bytes: number;
  readonly droppedBytes: number;
  readonly queuedBytes: number;
  readonly open: boolean;
}

export interface States {
  readonly processes: Map<number, ProcessFold>;
  readonly intents: Map<string, Intent>;
  /** By pid and name, as `7 tool.progress`. */
  readonly progress: Map<string, object>;
  readonly devices: Map<string, Data>;
  /** The claims of devices that have not ended, by their ids: the data of `device.claimed`. */
  readonly claims: Map<string, Data>;
}

export function emptyStates(): States {
  return {
    processes: new Map(),
    intents: new Map(),
    progress: new Map(),
    devices: new Map(),
    claims: new Map(),
  };
}

/** The same states, which no later fold changes. Their entries are never changed, only replaced. */
export function copyStates({ processes, intents, progress, devices, claims }: States): States {
  return {
    processes: new Map(processes),
    intents: new Map(intents),
    progress: new Map(progress),
    devices: new Map(devices),
    claims: new Map(claims),
  };
}

/** Takes one event into the states, and returns them. */
export function fold(states: States, event: KernelEvent): States {
  if (event.event.startsWith("process.")) foldProcess(states.processes, event);
  if (event.event.startsWith("device.")) foldDevice(states, event);
  if (event.event.endsWith(".progress")) foldProgress(states.progress, event);
  foldIntent(states.intents, event);
  return states;
}

function foldProcess(
  processes: States["processes"],
  { event, pid = 0, at, intentId, data }: KernelEvent,
): void {
  const given = data as Data;
  if (event === "process.started") {
    processes.set(pid, { ...begun(given), pid, startedAt: at, intentId: intentId ?? null });
    return;
  }
  const known = processes.get(pid);
  if (known === undefined) return;
  if (event === "process.ready") processes.set(pid, { ...known, ready: true });
  if (event === "process.state")
    processes.set(pid, {
      ...known,
      state: String(given.state),
      activity: (given.activity ?? null) as string | null,
    });
  if (event !== "process.exited") return;
  const { streams: written = {}, ...exit } = given as { streams?: { stdout?: number; stderr?: number } };
  const streams = {
    stdin: flow(0, false),
    stdout: flow(written.stdout, false),
    stderr: flow(written.stderr, false),
  };
  const ended = { state: "dead", activity: null, usage: given.usage ?? null, exit, streams };
  processes.delete(pid);
  processes.set(pid, { ...known, ...ended, elapsedMs: Math.max(0, at - known.startedAt) });
  forget(processes, ({ exit }) => exit !== null);
}

function begun(data: Data): Omit<ProcessFold, "pid" | "startedAt" | "intentId"> {
  return {
    id: String(data.id),
    ppid: Number(data.ppid ?? 0),
    osPid: (data.osPid ?? null) as number | null,
    kind: "native",
    state: "running",
    activity: null,
    command: (data.command ?? null) as string[] | null,
    cwd: String(data.cwd ?? ""),
    pty: data.pty === true,
    elapsedMs: 0,
    ready: false,
    usage: null,
    exit: null,
    streams: { stdin: flow(0, true), stdout: flow(0, true), stderr: flow(0, true) },
  };
}

function flow(bytes = 0, open = false): FlowFold {
  return { bytes, droppedBytes: 0, queuedBytes: 0, open };
}

function foldIntent(intents: States["intents"], event: KernelEvent): void {
  const { event: name, at, pid, correlationId, intentId = "" } = event;
  const data = event.data as Data;
  if (name === "intent.started") {
    intents.set(intentId, {
      id: intentId,
      name: String(data.name),
      owner: pid ?? 0,
      parent: (data.parentIntentId ?? null) as string | null,
      correlationId: correlationId ?? null,
      start: at,
      end: null,
      last: at,
      outcome: null,
      processes: [],
      deadline: null,
    });
    return;
  }
  const known = intents.get(intentId);
  if (known === undefined || known.end !== null) return;
  const processes =
    name === "process.started" && pid !== undefined ? [...known.processes, pid] : known.processes;
  const deadline = name === "intent.cancel_requested" ? Number(data.deadline) : known.deadline;
  intents.set(intentId, { ...known, last: at, processes: processes.slice(-KEPT), deadline });
  if (name !== "intent.ended") return;
  intents.delete(intentId);
  intents.set(intentId, { ...known, last: at, end: at, outcome: data.outcome as Outcome });
  forget(intents, ({ end }) => end !== null);
}

function foldProgress(progress: States["progress"], { event, pid = 0, data }: KernelEvent): void {
  const key = `${pid} ${event}`;
  progress.delete(key);
  progress.set(key, data);
  forget(progress, () => true);
}

/** A device is held until the last of its claims has ended. */
function foldDevice({ devices, claims }: States, { event, data }: KernelEvent): void {
  const given = data as Data;
  const id = String(given.device ?? given.id);
  if (event === "device.added" || event === "device.gone")
    devices.set(
      id,
      event === "device.gone" ? { ...devices.get(id), ...given, state: "gone", claim: null } : given,
    );
  if (event === "device.claimed") claims.set(String(given.claim), given);
  if (event === "device.released") claims.delete(String(given.claim));
  if (event === "device.claimed" || event === "device.released") {
    const holder = [...claims.values()].find(({ device }) => device === id);
    const known = devices.get(id);
    // the end of a claim that an earlier daemon left may be told after that of its device
    if (event === "device.claimed" || known?.state !== "gone")
      devices.set(id, { ...known, ...heldBy(holder) });
  }
  forget(claims, () => true);
  forget(devices, ({ state }) => state === "gone");
}

function heldBy(claim: Data | undefined): Data {
  if (claim === undefined) return { state: "free", claim: null };
  const { pid, mode, expiresAt = null } = claim;
  return { state: "claimed", claim: { pid, mode, expiresAt } };
}

/** Beyond the bound the oldest that may be forgotten goes. */
function forget<K, V>(map: Map<K, V>, mayGo: (value: V) => boolean): void {
  if (map.size <= KEPT) return;
  for (const [key, value] of map)
    if (mayGo(value)) {
      map.delete(key);
      return;
    }
}
