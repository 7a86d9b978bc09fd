/** The call of waiting for time, a message, a signal or the end of a process. */
import { SyscallError } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import type { Woken } from "../../abi/sys.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import type { Call } from "../gate/call.ts";
import { joins } from "../ipc/joins.ts";
import type { Mailbox } from "../ipc/mailbox.ts";
import type { Lookup } from "../ports/lookup.ts";
import { onDetach } from "../process/end/report.ts";
import type { LifeCycle } from "../process/life/life-cycle.ts";
import type { Process } from "../process/process.ts";

/** The parts of the kernel that sleeping uses. */
interface Kernel {
  readonly ports: { readonly clock: Pick<Clock, "sleep"> };
  readonly table: Lookup<Process>;
  /** Who waits takes no place from agents that have not begun. */
  readonly admission: { idle(proc: object): () => void };
}

interface Sleeper {
  readonly pid: Pid;
  readonly life: Pick<LifeCycle, "activity" | "act">;
  ownMailbox(): Mailbox;
  readonly conversation: { readonly run: { readonly client: string } | null } | null;
  onWake(wake: () => void): () => void;
}

type Wake = (woken: Woken) => void;

/** One hour. */
const MAX_SLEEP_MS = 3_600_000;

/**
 * Sleep(ms): until the time is over, a message for the caller arrives, or a signal was acted on that does not end it;
 * with a pid, until that process ends or the time is over. It takes nothing: the message stays in the box.
 */
export const sleep: Call<"sleep", { ms: number; pid?: Pid }, Kernel, Sleeper> = {
  name: "Sleep",
  take: (ms, _signal, options) => ({ ms, ...options }),
  args: ({ ms, pid }) => ({ ms, ...(pid === undefined ? {} : { pid }) }),
  result: (woken) => woken,
  async run(pass, { ms, pid }) {
    const { core, self } = pass;
    checkTime(self, ms);
    const over = new AbortController();
    using linked = linkSignals(pass.signal, over.signal);
    const { promise, resolve, reject } = Promise.withResolvers<Woken>();
    const giveUp = (): void => reject(pass.signal.reason);
    if (pass.signal.aborted) giveUp();
    pass.signal.addEventListener("abort", giveUp, { once: true });
    core.ports.clock.sleep(ms, linked.signal).then(
      () => resolve("timer"),
      () => {},
    );
    const unwatch =
      pid === undefined
        ? watchOwn(self, resolve)
        : watchOther(core.table.require(self.pid, pid, "Sleep", "see"), resolve);
    const before = self.life.activity;
    // an idle member of a team stays one
    if (pid === undefined && before !== "idle") self.life.act("waiting");
    const resumed = core.admission.idle(self);
    try {
      return await promise;
    } finally {
      if (self.life.activity === "waiting" && pid === undefined) self.life.act(before);
      resumed();
      unwatch();
      over.abort(ABORTED);
      pass.signal.removeEventListener("abort", giveUp);
    }
  },
};

/** Wakes at once if a message is already there. */
function watchOwn(self: Sleeper, wake: Wake): () => void {
  const box = self.ownMailbox();
  const ofRun = self.conversation?.run?.client;
  const unwatch = box.watch(
    (message) => ofRun === undefined || joins(message, ofRun),
    () => wake("message"),
  );
  const unheed = self.onWake(() => wake("signal"));
  return () => {
    unwatch();
    unheed();
  };
}

function watchOther(proc: Process, wake: Wake): () => void {
  const ended = (): void => wake("exit");
  proc.done.promise.then(ended, ended);
  return onDetach(proc, () => wake("detached"));
}

function checkTime({ pid }: Sleeper, ms: number): void {
  if (Number.isFinite(ms) && ms >= 0 && ms <= MAX_SLEEP_MS) return;
  const message = `ms must be 0 to ${MAX_SLEEP_MS}: ${ms}`;
  throw new SyscallError({ syscall: "Sleep", pid, code: "INVALID", message });
}
