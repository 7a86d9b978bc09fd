/**
 * The end of intents by request (kernel IPC chapter, 7.3): everybody in them is told, what does not end by itself gets
 * SIGTERM, and at the deadline all that is still at work gets SIGTERM and then SIGKILL.
 */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { SIGNALS, type Signal } from "../../abi/process.ts";
import { ABORTED } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import type { KernelEvent } from "../ports/events.ts";
import type { Intent, IntentCancel, IntentClient } from "../ports/intents.ts";
import type { Purposeful } from "./intent-table.ts";

export interface Stopping {
  readonly init: { kill(pid: Pid, signal: Signal): Promise<void> };
}

/** The table of intents, as a cancellation uses it. */
export interface Canceller {
  readonly clients: Iterable<IntentClient>;
  find(id: string): Intent | undefined;
  open(): readonly Intent[];
  membersOf(ids: ReadonlySet<string>): readonly Pid[];
  end(id: string, end: { readonly outcome: "cancelled"; readonly reason: string }): Promise<number>;
}

interface Round {
  readonly ids: ReadonlySet<string>;
  readonly reason: string;
  /** On the monotonic clock. */
  deadline: number;
}

export class Cancellation {
  readonly #core: () => Purposeful;
  readonly #intents: Canceller;
  readonly #rounds = new Set<Round>();
  #moved = Promise.withResolvers<void>();

  constructor(core: () => Purposeful, intents: Canceller) {
    this.#core = core;
    this.#intents = intents;
  }

  /** Something has changed that a round may wait for. */
  poke(): void {
    if (this.#rounds.size === 0) return;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers<void>();
  }

  async begin(
    roots: readonly string[],
    { reason, graceMs, ids: cause }: IntentCancel,
  ): Promise<{ intents: string[]; processes: number[] }> {
    const all = this.#tree(roots);
    const ids = new Set(all.map(({ id }) => id));
    const processes = this.#intents.membersOf(ids).map(Number);
    const { clock } = this.#core().ports;
    const deadline = Math.floor(clock.now()) + graceMs;
    const later = all.filter((intent) => intent.deadline === null || deadline < intent.deadline);
    if (later.length === 0) return { intents: [...ids], processes };
    const events = await Promise.all(
      later.map((intent) => this.#request(intent, { reason, deadline }, cause)),
    );
    for (const round of this.#rounds)
      if ([...round.ids].some((id) => ids.has(id)))
        round.deadline = Math.min(round.deadline, clock.mono() + graceMs);
    this.#tell(events, ids);
    const fresh = new Set(later.filter((intent) => intent.deadline === null).map(({ id }) => id));
    this.#stop(this.#intents.membersOf(fresh).filter((pid) => !this.#isCovered(pid, fresh)));
    const round: Round = { ids: fresh, reason, deadline: clock.mono() + graceMs };
    if (fresh.size > 0) this.#start(round);
    this.poke();
    return { intents: [...ids], processes };
  }

  /** The open ones of these with all that are nested in them, the outer before the inner. */
  #tree(roots: readonly string[]): readonly Intent[] {
    const found = new Map<string, Intent>();
    for (const root of roots) {
      const intent = this.#intents.find(root);
      if (intent !== undefined && intent.end === null) found.set(root, intent);
    }
    // an inner one begins after its outer one, and so stands behind it
    for (const each of this.#intents.open())
      if (each.parent !== null && found.has(each.parent)) found.set(each.id, each);
    return [...found.values()];
  }

  async #request(
    { id, owner, correlationId }: Intent,
    data: { readonly reason: string; readonly deadline: number },
    cause: IntentCancel["ids"],
  ): Promise<KernelEvent> {
    const draft = {
      event: "intent.cancel_requested",
      ...(owner === 0 ? {} : { pid: owner }),
      ...cause,
      intentId: id,
      ...(correlationId === null ? {} : { correlationId }),
      data: { intentId: id, ...data },
    };
    const seq = await this.#core().events.publish(draft);
    return { ...draft, seq, at: Math.floor(this.#core().ports.clock.now()) };
  }

  /** Those that want to end by themselves, and that are in it, are told; open requests end. */
  #tell(events: readonly KernelEvent[], ids: ReadonlySet<string>): void {
    for (const client of [...this.#intents.clients]) {
      client.abort(ids);
      for (const event of events) if (this.#concerns(client, event)) client.told(event);
    }
  }

  #concerns(client: IntentClient, { pid, intentId = "" }: KernelEvent): boolean {
    if (!client.isCooperative) return false;
    if (client.hasBegun(intentId)) return true;
    if (client.actor === 0) return false;
    const members = this.#intents.membersOf(new Set([intentId]));
    return client.actor === pid || members.some((member) => Number(member) === client.actor);
  }

  /** It, or what has started it, ends it by itself. */
  #isCovered(pid: Pid, ids: ReadonlySet<string>): boolean {
    const line = new Set<number>();
    const { table } = this.#core();
    // a client of the user covers only what it has begun
    for (let at = table.get(pid); at !== undefined && at.pid !== PID_KERNEL; at = table.get(at.ppid))
      line.add(at.pid);
    return [...this.#intents.clients].some(
      (client) =>
        client.isCooperative && (line.has(client.actor) || [...ids].some((id) => client.hasBegun(id))),
    );
  }

  /** Whoever has begun one of these ends it itself. */
  #isAwaited(ids: ReadonlySet<string>): boolean {
    const open = [...ids].flatMap((id) => this.#intents.find(id) ?? []).filter(({ end }) => end === null);
    return [...this.#intents.clients].some(
      (client) =>
        client.isCooperative &&
        open.some(({ id, owner }) => client.hasBegun(id) || (owner !== 0 && owner === client.actor)),
    );
  }

  /** A session goes on after its run; an agent gets TERM. */
  #stop(pids: readonly Pid[], signal: Signal = SIGNALS.SIGTERM): void {
    const { init, table } = this.#core();
    for (const pid of pids) {
      const isSession = table.get(pid)?.conversation !== null && signal === SIGNALS.SIGTERM;
      init.kill(pid, isSession ? SIGNALS.SIGINT : signal).catch(() => {});
    }
  }

  #start(round: Round): void {
    this.#rounds.add(round);
    this.#carryOut(round)
      .catch((error: unknown) => this.#core().ports.log("warn", `a cancellation: ${String(error)}`))
      .finally(() => this.#rounds.delete(round));
  }

  async #carryOut(round: Round): Promise<void> {
    const { clock } = this.#core().ports;
    const watched = new Set<Pid>();
    const signals: Signal[] = [SIGNALS.SIGTERM, SIGNALS.SIGKILL];
    let killAt = Infinity;
    for (;;) {
      const left = this.#intents.membersOf(round.ids).filter((pid) => this.#isAtWork(pid));
      const isLate = clock.mono() >= round.deadline;
      if (left.length === 0 && (isLate || !this.#isAwaited(round.ids))) break;
      this.#watch(left, watched);
      const [signal] = signals;
      if (signal !== undefined && isLate && (signal === SIGNALS.SIGTERM || clock.mono() >= killAt)) {
        this.#stop(left, signal);
        signals.shift();
        killAt = clock.mono() + LIMITS.nativeGraceMs;
      }
      await this.#moveOrTime(
        signals.length === 2 ? round.deadline : signals.length === 1 ? killAt : Infinity,
      );
    }
    for (const id of [...round.ids].toReversed()) {
      const intent = this.#intents.find(id);
      if (intent !== undefined && intent.end === null)
        await this.#intents.end(id, { outcome: "cancelled", reason: round.reason });
    }
  }

  /** Resolves when something has moved, or at this time of the monotonic clock. */
  async #moveOrTime(time: number): Promise<void> {
    const { clock } = this.#core().ports;
    const moved = this.#moved.promise;
    if (time === Infinity) return moved;
    const over = new AbortController();
    const nap = clock.sleep(Math.max(0, time - clock.mono()), over.signal).catch(() => {});
    await Promise.race([moved, nap]);
    over.abort(ABORTED);
  }

  #watch(pids: readonly Pid[], watched: Set<Pid>): void {
    const poke = (): void => this.poke();
    for (const pid of pids) {
      if (watched.has(pid)) continue;
      watched.add(pid);
      this.#core().table.get(pid)?.done.promise.then(poke, poke);
    }
  }

  /** A session that waits for its user is not at work. */
  #isAtWork(pid: Pid): boolean {
    const proc = this.#core().table.get(pid);
    return proc?.isLive === true && !(proc.conversation !== null && proc.life.activity === "waiting");
  }
}
