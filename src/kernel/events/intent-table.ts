/**
 * Intents (kernel IPC chapter, 7.2): what they are is a fold of their events, so that nothing else has to be kept. The
 * kernel ends them when their owner ends; an agent is an intent of its own, `i_<pid>`, for as long as it runs.
 */
import { Fault } from "../../abi/errors.ts";
import { asPid, PID_KERNEL, type Pid } from "../../abi/ids.ts";
import type { DeviceRecord } from "../../abi/methods/ipc/device.ts";
import type { EventIds } from "../../abi/native.ts";
import { EXIT, isLost } from "../../abi/process.ts";
import { exitReport } from "../../lib/exit-report.ts";
import { maskedCommand } from "../../lib/redact/server-label.ts";
import { ulid } from "../../lib/ulid.ts";
import { endOf } from "../facts/ended.ts";
import { LIMITS } from "../limits.ts";
import type { Compaction } from "../ports/events.ts";
import type { Hal } from "../ports/hal.ts";
import {
  type Intent,
  type IntentCancel,
  type IntentClient,
  type IntentEnd,
  type Intents,
  type IntentWish,
  isOfAgent,
  type LostStart,
  type Projected,
  type ProjectionWish,
} from "../ports/intents.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Natives, PastOutput } from "../ports/natives.ts";
import type { Process } from "../process/process.ts";
import { Cancellation, type Canceller, type Stopping } from "./cancellation.ts";
import { compact } from "./compaction.ts";
import { EventStates } from "./event-states.ts";
import type { JournalledEvents } from "./journalled-events.ts";
import { project } from "./project.ts";

/** What intents need of the kernel. */
export interface Purposeful {
  readonly ports: Pick<KernelPorts, "clock" | "log" | "journal" | "ends">;
  readonly events: JournalledEvents;
  readonly natives: Natives;
  readonly table: { get(pid: Pid): Process | undefined };
  readonly init: Stopping["init"];
  readonly hal: Pick<Hal, "list" | "hasMade">;
}

export class IntentTable implements Intents, Canceller {
  readonly #core: () => Purposeful;
  readonly #states: EventStates;
  readonly #clients = new Set<IntentClient>();
  /** Begun or ended, and not recorded yet. */
  readonly #beginning = new Map<string, Promise<Intent>>();
  readonly #ending = new Map<string, Promise<number>>();
  readonly #watched = new Set<number>();
  /** Agents that were started for an intent. */
  readonly #joined = new Map<number, string>();
  readonly #cancellation: Cancellation;
  #ready: Promise<void> | undefined;
  #tidiedAt: number | undefined;

  constructor(core: () => Purposeful, events: JournalledEvents) {
    this.#core = core;
    this.#states = new EventStates(events);
    this.#cancellation = new Cancellation(core, this);
    events.watch(() => this.#cancellation.poke());
  }

  ready(): Promise<void> {
    this.#ready ??= this.#states
      .ready()
      .then(() => this.#endLost())
      .catch((error: unknown) => {
        this.#ready = undefined;
        throw error;
      });
    return this.#ready;
  }

  find(id: string): Intent | undefined {
    return this.#states.now.intents.get(id) ?? this.#agent(id);
  }

  get clients(): Iterable<IntentClient> {
    return this.#clients;
  }

  attend(client: IntentClient): () => void {
    this.#clients.add(client);
    return () => {
      this.#clients.delete(client);
      this.#cancellation.poke();
    };
  }

  join(id: string, pid: Pid): void {
    this.#joined.set(pid, id);
    const forget = (): void => void this.#joined.delete(pid);
    this.#core().table.get(pid)?.done.promise.then(forget, forget);
  }

  async begin(wish: IntentWish): Promise<Intent> {
    await this.ready();
    await this.#tidy();
    const id = wish.intentId ?? `i_${ulid(Math.floor(this.#core().ports.clock.now()), Math.random)}`;
    const known = this.find(id) ?? (await this.#beginning.get(id));
    if (known !== undefined) return again(known, wish.owner);
    if (isOfAgent(id))
      throw new Fault({
        code: "PERMISSION",
        message: `${id} is the intent of an agent: the kernel begins it`,
      });
    const beginning = this.#begin(id, wish);
    this.#beginning.set(id, beginning);
    try {
      return await beginning;
    } finally {
      this.#beginning.delete(id);
    }
  }

  async #begin(intentId: string, wish: IntentWish): Promise<Intent> {
    const { owner, name, parentIntentId, data, ids, request } = wish;
    const { clock } = this.#core().ports;
    const parent = this.#parent(parentIntentId, ids.intentId);
    const correlationId =
      ids.correlationId ?? parent?.correlationId ?? `c_${ulid(Math.floor(clock.now()), Math.random)}`;
    await this.#core().events.publish({
      event: "intent.started",
      ...(owner === PID_KERNEL ? {} : { pid: owner }),
      ...ids,
      intentId,
      correlationId,
      ...(request === undefined ? {} : { request }),
      data: { intentId, name, ...(parent === undefined ? {} : { parentIntentId: parent.id }), ...data },
    });
    if (owner !== PID_KERNEL) this.#watch(owner);
    return this.find(intentId) as Intent;
  }

  /** NOT_FOUND: an explicit one that is not there. CANCELLED: it is to end. INVALID: nested too deep. */
  #parent(explicit: string | undefined, around: string | undefined): Intent | undefined {
    const id = explicit ?? around;
    const parent = id === undefined ? undefined : this.find(id);
    if (parent === undefined && explicit !== undefined) throw notFound(explicit);
    if (parent === undefined) return undefined;
    checkOpen(parent);
    let depth = 1;
    for (let at: Intent | undefined = parent; at !== undefined; depth++)
      at = at.parent === null ? undefined : this.find(at.parent);
    if (depth > LIMITS.intentDepth)
      throw new Fault({ code: "INVALID", message: `intents nest at most ${LIMITS.intentDepth} deep` });
    return parent;
  }

  async end(id: string, end: IntentEnd, ids: EventIds = {}): Promise<number> {
    await this.ready();
    const known = this.find(id);
    if (known === undefined) throw notFound(id);
    if (known.end !== null) return known.end - known.start;
    const ending = this.#ending.get(id) ?? this.#end(known, end, ids).finally(() => this.#ending.delete(id));
    this.#ending.set(id, ending);
    return ending;
  }

  async #end(intent: Intent, { outcome, summary, data, reason }: IntentEnd, ids: EventIds): Promise<number> {
    const children = this.open().filter(({ parent }) => parent === intent.id);
    await Promise.all(
      children.map(({ id }) => this.end(id, { outcome: "cancelled", reason: "the outer intent ended" })),
    );
    const { id: intentId, owner, correlationId, start, deadline } = intent;
    const durationMs = Math.max(0, Math.floor(this.#core().ports.clock.now()) - start);
    await this.#core().events.publish({
      event: "intent.ended",
      ...(owner === PID_KERNEL ? {} : { pid: owner }),
      ...ids,
      intentId,
      ...(correlationId === null ? {} : { correlationId }),
      data: {
        intentId,
        outcome: deadline === null ? outcome : "cancelled",
        ...(summary === undefined ? {} : { summary }),
        durationMs,
        ...(reason === undefined ? {} : { reason }),
        ...data,
      },
    });
    return durationMs;
  }

  open(): readonly Intent[] {
    return [...this.#states.now.intents.values()].filter(({ end }) => end === null);
  }

  ofCorrelation(correlationId: string): readonly Intent[] {
    return this.open().filter((intent) => intent.correlationId === correlationId);
  }

  /** The live processes of these intents, whoever started them. */
  membersOf(ids: ReadonlySet<string>): readonly Pid[] {
    const { natives, table } = this.#core();
    const own = natives.list().filter(({ end, ids: { intentId = "" } }) => end === null && ids.has(intentId));
    const agents = [...this.#joined].filter(([, id]) => ids.has(id)).map(([pid]) => pid);
    const named = [...ids].map((id) => this.#agent(id)?.owner ?? 0);
    const all = new Set([...own.map(({ pid }) => Number(pid)), ...agents, ...named]);
    return [...all].map(asPid).filter((pid) => table.get(pid)?.isLive === true);
  }

  async cancel(
    ids: readonly string[],
    wish: IntentCancel,
  ): Promise<{ intents: string[]; processes: number[] }> {
    await this.ready();
    return this.#cancellation.begin(ids, wish);
  }

  async project(wish: ProjectionWish): Promise<Projected> {
    await this.ready();
    const { events, hal } = this.#core();
    return project({ events, states: this.#states, devices: hal.list() }, wish);
  }

  async compact(before: number): Promise<Compaction> {
    await this.ready();
    const head = await this.#core().events.head();
    if (before > head + 1)
      throw new Fault({
        code: "INVALID",
        message: `params.before: ${before} is above the newest event, ${head}`,
      });
    return compact(this.#core().events, ({ seq }) => seq < before, this.#stays());
  }

  /** Events of what goes on are not compacted. */
  #stays(): (event: EventIds & { readonly pid?: number }) => boolean {
    const { table } = this.#core();
    return ({ intentId, pid }) =>
      (intentId !== undefined && this.find(intentId)?.end === null) ||
      (pid !== undefined && table.get(asPid(pid))?.isLive === true);
  }

  /** At most once an hour: abandoned intents end, and old events are compacted. */
  async #tidy(): Promise<void> {
    const { ports, events } = this.#core();
    const now = ports.clock.mono();
    if (this.#tidiedAt !== undefined && now - this.#tidiedAt < LIMITS.eventsTidyMs) return;
    this.#tidiedAt = now;
    const wall = ports.clock.now();
    for (const { id, owner, last } of this.open())
      if (owner === PID_KERNEL && wall - last >= LIMITS.intentIdleMs)
        await this.end(id, { outcome: "failed", reason: "abandoned" });
    const middle = Math.floor(((await events.floor()) + (await events.head())) / 2);
    const isMuch = events.bytes > LIMITS.eventBytes;
    await compact(
      events,
      ({ seq, at }) => wall - at > LIMITS.eventsKeptMs || (isMuch && seq < middle),
      this.#stays(),
    );
  }

  /** A running agent as an intent. */
  #agent(id: string): Intent | undefined {
    const proc = isOfAgent(id) ? this.#core().table.get(asPid(Number(id.slice(2)))) : undefined;
    if (proc === undefined || proc.seed.kind !== "agent" || !proc.isLive) return undefined;
    const start = proc.seed.createdAt.getTime();
    const own = { id, name: proc.seed.intent, owner: proc.pid, start, last: start, processes: [proc.pid] };
    return { ...own, parent: null, correlationId: null, end: null, outcome: null, deadline: null };
  }

  #watch(owner: Pid): void {
    if (this.#watched.has(owner)) return;
    const proc = this.#core().table.get(owner);
    const over = (): void => {
      this.#watched.delete(owner);
      void this.#endOf(owner).catch((error: unknown) => {
        this.#core().ports.log("warn", `intents of process ${owner}: ${String(error)}`);
      });
    };
    this.#watched.add(owner);
    if (proc === undefined) over();
    else proc.done.promise.then(over, over);
  }

  async #endOf(owner: number): Promise<void> {
    const own = this.open().filter((intent) => intent.owner === owner);
    // the inner ones first: they have failed like the outer one
    for (const { id } of own.toReversed()) await this.end(id, { outcome: "failed", reason: "owner exited" });
  }

  /** Programs end with their daemon, and so do claims of devices. */
  async #endLost(): Promise<void> {
    const { table, natives, hal } = this.#core();
    const owners = new Set(this.open().map(({ owner }) => owner));
    for (const owner of owners)
      if (owner !== PID_KERNEL && table.get(asPid(owner))?.isLive !== true)
        void this.#endOf(owner).catch(() => {});
    const lost = [...this.#states.now.processes.values()].filter(
      ({ pid, exit }) => exit === null && natives.of(asPid(pid)) === undefined,
    );
    const { claims } = this.#states.now;
    const left = [...claims].filter(([id]) => !hal.hasMade(id)).map(([, claim]) => claim);
    await Promise.all([
      ...lost.map((native) => this.#tellLost(native).catch(() => {})),
      ...left.map((claim) => this.#tellReleased(claim).catch(() => {})),
      ...hal.list().map((device) => this.#tellDevice(device).catch(() => {})),
    ]);
  }

  /** That it has gone or come back, if nobody has told since an earlier daemon saw it last. */
  async #tellDevice(data: DeviceRecord): Promise<void> {
    const isGone = data.state === "gone";
    const wasGone = this.#states.now.devices.get(data.id)?.state === "gone";
    if (isGone === wasGone) return;
    await this.#core().events.publish({ event: isGone ? "device.gone" : "device.added", data });
  }

  async #tellReleased(claim: Readonly<Record<string, unknown>>): Promise<void> {
    const { pid } = claim;
    const about = typeof pid === "number" && pid !== PID_KERNEL ? { pid } : {};
    await this.#core().events.publish({
      event: "device.released",
      ...about,
      data: { ...claim, cause: "lost" },
    });
  }

  async recall({ id, pid, ids, ...start }: LostStart): Promise<void> {
    await this.ready();
    const { ports, events, natives } = this.#core();
    if (this.#states.now.processes.has(pid) || natives.of(pid) !== undefined) return;
    const end = await endOf({ ports }, pid);
    if (end !== undefined && !isLost(end.exit)) return;
    const data = { id, pid, osPid: null, ...start, command: maskedCommand(start.command) };
    await events.publish({ event: "process.started", pid, id, ...ids, data });
    await this.#tellLost({ id, pid, intentId: ids.intentId ?? null });
  }

  /** Whose end nobody could tell: its daemon ended before. */
  async #tellLost({ id, pid, intentId }: Lost): Promise<void> {
    const { ports, events, natives } = this.#core();
    const { stdout, stderr } = await natives.past(asPid(pid)).catch((): PastOutput => ({}));
    const exit = (await endOf({ ports }, asPid(pid)))?.exit ?? EXIT.lost;
    const ended = exitReport({ id, pid, usage: null }, { exit, endedAt: Math.floor(ports.clock.now()) });
    const intent = intentId === null ? {} : { intentId };
    const data = { ...ended, streams: { stdout: stdout?.bytes ?? 0, stderr: stderr?.bytes ?? 0 } };
    await events.publish({ event: "process.exited", pid, id, ...intent, data });
  }
}

interface Lost {
  readonly id: string;
  readonly pid: number;
  readonly intentId: string | null;
}

function again(known: Intent, owner: number): Intent {
  if (known.owner !== owner) throw notFound(known.id);
  checkOpen(known);
  return known;
}

/** CANCELLED: it is to end, or was ended so. CONFLICT: it has ended. */
function checkOpen({ id, end, outcome, deadline }: Intent): void {
  if (deadline !== null || outcome === "cancelled")
    throw new Fault({ code: "CANCELLED", message: `intent ${id} was cancelled`, details: { intentId: id } });
  if (end !== null) throw new Fault({ code: "CONFLICT", message: `intent ${id} has ended: ${outcome}` });
}

function notFound(id: string): Fault {
  return new Fault({ code: "NOT_FOUND", message: `intent not found: ${id}` });
}
