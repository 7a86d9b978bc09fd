/** The user's account: what all their processes spend together. Its only limits are the windows in the settings. */
import { PID_KERNEL, type Pid } from "../../abi/ids.ts";
import { type Journal, KERNEL_UUID } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { Account } from "./account.ts";
import type { KeptUse } from "./kept-account.ts";
import { type KeptWindow, Window } from "./window.ts";

const OWNER = { proc: KERNEL_UUID, pid: PID_KERNEL as Pid };

export function rootAccount(ports: KernelPorts): Account {
  const account = new Account(null, {}, { owner: OWNER, givesAll: true });
  keepWindows(account, ports);
  return account;
}

/** Updates the windows to the current settings; a window that stays keeps what was spent in it. */
export function keepWindows(account: Account, { budget }: Pick<KernelPorts, "budget">): void {
  const wanted = budget?.().windows ?? [];
  const known = account.windows;
  const isSame =
    wanted.length === known.length &&
    wanted.every(({ unit, limit, perMs }, at) => {
      const window = known[at];
      return window?.unit === unit && window.perMs === perMs && window.limit === limit;
    });
  if (!isSame) account.windows = wanted.map((each) => new Window(each, find(each, known)?.kept.buckets));
}

/** Loads what earlier daemons spent. Called once, before anything is spent. */
export async function recallWindows(account: Account, journal: Journal): Promise<void> {
  if (account.windows.length === 0) return;
  const newest = await journal.newest(KERNEL_UUID, "acct.settle");
  const { windows = [] } = (newest?.body ?? {}) as Partial<KeptUse>;
  account.windows = account.windows.map((window) => new Window(window, find(window, windows)?.buckets));
}

function find<W extends Pick<KeptWindow, "unit" | "perMs">>(
  wanted: Pick<KeptWindow, "unit" | "perMs">,
  windows: readonly W[],
): W | undefined {
  return windows.find(({ unit, perMs }) => unit === wanted.unit && perMs === wanted.perMs);
}
