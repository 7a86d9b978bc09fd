/**
 * Limits on the time in which a process or any of its descendants works. The account's clock runs while at least one of
 * them works; at the limit all of them end with `budget_exceeded`. A timer is set only while a limit exists and one
 * works.
 */

import { SyscallError } from "../../abi/errors.ts";
import { EXIT } from "../../abi/process.ts";
import { ABORTED } from "../../lib/abort.ts";
import { MAX_TIMER_MS } from "../../lib/time/max-timer.ts";
import type { Account } from "./account.ts";
import type { Accounting, Payer } from "./accounting.ts";
import { useDraft } from "./kept-account.ts";

const TIMERS = new WeakMap<Account, AbortController>();

/** From now on, counts the working time of the process in its account and those above. */
export function countWork(core: Accounting, proc: Payer): void {
  const { clock } = core.ports;
  const chain = proc.seed.account.chain();
  const tell = (isWorking: boolean): void => {
    const mono = clock.mono();
    for (const account of chain) {
      const { work } = account;
      const before = work.isRunning;
      if (isWorking) work.begin(proc, mono);
      else work.end(proc, mono);
      if (before !== work.isRunning) changed(core, account);
    }
  };
  proc.work.watch(tell);
}

/** Called when the limits of the account have changed. */
export function limitsChanged(core: Accounting, account: Account): void {
  stop(account);
  changed(core, account);
}

function changed(core: Accounting, account: Account): void {
  const { wallMs } = account.limits;
  if (wallMs === undefined) return;
  if (account.work.isRunning) {
    start(core, account, wallMs);
    return;
  }
  stop(account);
  const draft = useDraft(account, core.ports.clock.mono());
  if (draft !== undefined) core.ports.journal.note([draft]);
}

function start(core: Accounting, account: Account, wallMs: number): void {
  if (TIMERS.has(account)) return;
  const timer = new AbortController();
  TIMERS.set(account, timer);
  const { clock } = core.ports;
  const leftMs = (): number => wallMs - account.work.ms(clock.mono());
  const wait = async (): Promise<void> => {
    for (let ms = leftMs(); ms > 0; ms = leftMs())
      await clock.sleep(Math.min(ms, MAX_TIMER_MS), timer.signal);
  };
  wait().then(
    () => {
      if (!timer.signal.aborted) endAll(core, account, wallMs);
    },
    () => {},
  );
}

function stop(account: Account): void {
  TIMERS.get(account)?.abort(ABORTED);
  TIMERS.delete(account);
}

function endAll(core: Accounting, account: Account, wallMs: number): void {
  for (const proc of core.table.all()) {
    if (!proc.isLive || proc.life.isResting || !proc.seed.account.chain().includes(account)) continue;
    const whose = account === proc.seed.account ? "" : ` of process ${account.owner?.pid ?? 0}`;
    const message = `budget exceeded${whose}: it has worked for ${wallMs} ms`;
    const err = new SyscallError({ syscall: "Spawn", pid: proc.pid, code: "BUDGET", message });
    core.end(proc, { ...EXIT.budget, err });
  }
}
