/**
 * The slot of a call that others limit. It is taken after the call was permitted and before anything is reserved, so that
 * whoever waits holds nothing: no slot, no money. It is given back before any further wait, for the user, the disk or the
 * end of a pause; and freed at the end of the act, on every path.
 */
import type { Charge } from "../../abi/effects.ts";
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type LaneClass, WEIGHT } from "../../abi/lanes.ts";
import { ABORTED } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { type Applicant, type LaneRefusal, type Scheduler, Slot } from "../schedule/scheduler.ts";
import { cancelled } from "./gate.ts";
import type { Passage } from "./passage.ts";

/** What waiting for a slot needs of the kernel. */
export interface Scheduling {
  readonly ports: Pick<KernelPorts, "clock">;
  readonly scheduler: Pick<Scheduler, "take" | "view">;
  readonly table: { get(pid: Pid): Process | undefined };
}

/** undefined: the call needs none. UNAVAILABLE, or the server's own refusal: waiting would take too long. */
export async function slotFor(passage: Passage): Promise<Slot | undefined> {
  const { core, self, effectful, signal } = passage;
  const { lane, syscall } = effectful;
  if (lane === undefined) return undefined;
  let told: (() => void) | undefined;
  const waits = (): void => {
    told = waitTold(passage, lane.lane);
  };
  let got: Slot | LaneRefusal;
  try {
    const taken = core.scheduler.take(lane, applicantOf(core, self, waits), signal);
    got = await self.halt.quiescence.suspend(taken);
  } catch (error) {
    throw cancelled(self, syscall, error);
  } finally {
    told?.();
  }
  if (got instanceof Slot) return got;
  if (got.error !== undefined) throw got.error;
  const { device } = effectful;
  const message = "too many calls wait for this model";
  throw new SyscallError({ syscall, pid: self.pid, device, code: "UNAVAILABLE", message });
}

/** What counts against the limits of a server: not what it had cached. */
export function consumedBy(cost: Charge | undefined): { readonly input: number; readonly output: number } {
  const { usage } = cost ?? {};
  if (usage === undefined) return { input: cost?.tokens ?? 0, output: 0 };
  return {
    input: usage.input_tokens + usage.cache_creation_input_tokens,
    output: usage.output_tokens,
  };
}

/** Shows the wait, and tells those who follow the process if it takes longer; the returned function ends it. */
function waitTold({ core, self }: Passage, lane: string): () => void {
  const { clock } = core.ports;
  const over = new AbortController();
  const waited = self.model.wait({ lane, sinceMono: clock.mono() });
  clock.sleep(LIMITS.laneTellMs, over.signal).then(
    () => {
      const found = core.scheduler.view(lane).find((each) => each.lane.lane === lane);
      const mine = found?.waiting.find(({ pid }) => pid === self.pid);
      if (found === undefined || mine === undefined) return;
      const { class: name, position, waitedMs } = mine;
      const place = { class: name, position, waitedMs, lane: found.lane };
      self.tell({ event: "sched.waiting", pid: self.pid, ...place }, clock.mono());
    },
    () => {},
  );
  return () => {
    over.abort(ABORTED);
    waited();
  };
}

/** Class and weights are read when they are needed: they change while it waits. */
function applicantOf(core: Scheduling, self: Process, waits: () => void): Applicant {
  const { pid, proc: session } = self.seed.session.owner ?? { pid: self.pid, proc: self.seed.uuid };
  return {
    session,
    process: self.pid,
    get sessionWeight() {
      return core.table.get(pid)?.weight ?? WEIGHT.usual;
    },
    get weight() {
      return self.weight;
    },
    get class() {
      return classOf(core, self);
    },
    ended: self.abort.signal,
    owner: self,
    waits,
  };
}

/**
 * Who waits for the result: an attached user, directly or through processes that wait for one another; another process
 * that the user started; or nobody.
 */
export function classOf({ table }: Pick<Scheduling, "table">, self: Process): LaneClass {
  for (let proc = self; ; ) {
    const parent = table.get(proc.ppid);
    if (proc.ppid === PID_KERNEL || parent === undefined)
      return proc.seed.session.canAsk ? "interactive" : "foreground";
    if (!proc.isAwaited) return "background";
    proc = parent;
  }
}
