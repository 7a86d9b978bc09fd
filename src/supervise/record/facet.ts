/**
 * The facts of a supervisor: its children, their newest runs and exits, and the times of its restarts. A whole state
 * (`process.state`) stands for all records before it, so that a new daemon reads only from the newest one on.
 */
import { isLost } from "../../abi/process.ts";
import type { ChildState, CrashReport } from "../../abi/supervise.ts";
import type { LiveFacet } from "../../kernel/facts/facet.ts";
import type {
  KeptChild,
  KeptCrash,
  KeptEndowment,
  KeptSupervisor,
  SupervisorChange,
} from "./kept-supervisor.ts";

/** null: the process is not a supervisor, or its state was not recorded. */
export const supervisorFacet: LiveFacet<SupervisorFold | null> = {
  init: () => null,
  folds: {
    // the state of an agent has another form
    "process.state": (now, body) =>
      body.supervisor === 1 ? new SupervisorFold(body as unknown as KeptSupervisor) : now,
    "process.checkpoint": (now, body) => {
      now?.change(body as unknown as SupervisorChange);
      return now;
    },
    "supervisor.crash": (now, body) => {
      now?.crash(body as unknown as KeptCrash);
      return now;
    },
    "supervisor.escalated": (now, { reason }) => {
      now?.change({ ending: { kind: "escalated", reason: String(reason) } });
      return now;
    },
  },
  pack: (now) => (now === null ? {} : { supervisor: now.kept }),
  unpack: ({ supervisor }) =>
    supervisor === undefined ? null : new SupervisorFold(supervisor as KeptSupervisor),
  isHeld: true,
};

/** The most restart times kept for a later daemon; if there are more, the oldest are dropped. */
const MAX_RESTARTS = 10_000;

/** The most characters of a kept exit reason. */
const MAX_REASON = 200;

/** A state with its changes applied. Bounded by the children of the specification and `MAX_RESTARTS`. */
export class SupervisorFold {
  #kept: KeptSupervisor;
  readonly #children: Map<string, KeptChild>;
  readonly #window: number[];

  constructor(kept: KeptSupervisor) {
    this.#kept = kept;
    this.#children = new Map(kept.children.map((child) => [child.id, child]));
    this.#window = [...kept.window];
  }

  /** The body of a `process.state` that stands for all records so far. */
  get kept(): KeptSupervisor {
    return { ...this.#kept, window: [...this.#window], children: [...this.#children.values()] };
  }

  find(id: string): KeptChild | undefined {
    return this.#children.get(id);
  }

  change(change: SupervisorChange): void {
    if ("open" in change) this.#kept = { ...this.#kept, isOpen: true };
    // the first ending is kept
    else if ("ending" in change) this.#kept = { ...this.#kept, ending: this.#kept.ending ?? change.ending };
    else this.#update(change.child, (child) => changed(child, change));
  }

  crash({ child: id, pid, exit, decision, delayMs, at, row, ranMs, used }: KeptCrash): void {
    if (decision === "restart" && !isLost(exit)) this.#window.push(at);
    if (this.#window.length > MAX_RESTARTS) this.#window.shift();
    this.#update(id, (child) => ({
      ...child,
      row,
      ranMs,
      endowment: { ...child.endowment, used },
      lastExit: { ...exit, reason: exit.reason.slice(0, MAX_REASON) },
      endedAt: at,
      isRunning: child.isRunning && child.run?.pid !== pid,
      hasCompleted: child.hasCompleted || exit.code === 0,
      restarts: child.restarts + (decision === "restart" ? 1 : 0),
      nextStartAt: decision === "restart" ? at + delayMs : 0,
      state: AFTER[decision] ?? child.state,
    }));
  }

  /** Marks a child that this daemon does not start; the loss of its run is not judged as an exit. */
  withhold(id: string, state: "stopped" | "skipped"): void {
    this.#update(id, (child) => ({ ...child, isRunning: false, state, nextStartAt: 0 }));
  }

  #update(id: string, update: (child: KeptChild) => KeptChild): void {
    const child = this.#children.get(id);
    if (child !== undefined) this.#children.set(id, update(child));
  }
}

const AFTER: Readonly<Record<CrashReport["decision"], ChildState | undefined>> = {
  none: undefined,
  drop: "done",
  restart: "restarting",
  escalate: "stopped",
};

function useOf({ used, usd }: { used: number; usd?: number }): Pick<KeptEndowment, "used" | "usd"> {
  return { used, ...(usd === undefined ? {} : { usd }) };
}

function changed(child: KeptChild, change: Extract<SupervisorChange, { child: string }>): KeptChild {
  if ("run" in change) {
    const { run, endowment } = change;
    return { ...child, run, endowment, isRunning: true, state: "running", nextStartAt: 0 };
  }
  if ("state" in change) return { ...child, state: change.state };
  if ("used" in change) return { ...child, endowment: { ...child.endowment, ...useOf(change) } };
  if ("limits" in change) {
    const { limits } = change;
    return { ...child, endowment: { ...child.endowment, limits, limit: limits.tokens ?? 0 } };
  }
  return { ...child, isReady: true };
}
