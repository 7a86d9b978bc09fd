/** One probe of the socket: does a daemon answer there? */
import type { Result } from "../../abi/methods/methods.ts";
import type { Clock } from "../../abi/program.ts";
import { Connection, openSocket } from "./connection.ts";
import { WireFault } from "./wire-fault.ts";

type Unrestored = NonNullable<Result<"ping">["unrestored"]>;

export type Timer = Pick<Clock, "mono" | "sleep">;

export type Probe =
  | {
      readonly kind: "answered";
      readonly connection: Connection;
      readonly version: string;
      readonly isSafeMode: boolean;
      /** Set in safe mode: the processes that were not restored. */
      readonly unrestored?: Unrestored;
      /** Why the daemon is read-only. */
      readonly readOnly?: string;
    }
  /** No such file, no listener, or the connection closed before an answer. */
  | { readonly kind: "absent" }
  /** It answered that it accepts no connection now: full, or shutting down. */
  | { readonly kind: "busy"; readonly fault: WireFault }
  /** Connected, but no answer in time. `more` continues waiting for the same answer. */
  | { readonly kind: "silent"; more(ms: number): Promise<Probe>; close(): void };

export async function probe(path: string, ms: number, clock: Timer, signal?: AbortSignal): Promise<Probe> {
  const opened = await openSocket(path, signal);
  if (opened.kind === "absent") return opened;
  const connection = new Connection(opened.socket);
  const answer = ping(connection, signal);
  return waitFor(answer, connection, ms, clock, signal);
}

async function ping(connection: Connection, signal?: AbortSignal): Promise<Probe> {
  try {
    const answer = await connection.request("ping", {}, signal);
    const { version, safe_mode = false, read_only: why, unrestored } = answer;
    const readOnly = why === undefined ? {} : { readOnly: why };
    const left = unrestored === undefined ? {} : { unrestored };
    return { kind: "answered", connection, version, isSafeMode: safe_mode, ...readOnly, ...left };
  } catch (fault) {
    connection.close();
    if (signal?.aborted) throw fault;
    return fault instanceof WireFault ? { kind: "busy", fault } : { kind: "absent" };
  }
}

async function waitFor(
  answer: Promise<Probe>,
  connection: Connection,
  ms: number,
  clock: Timer,
  signal?: AbortSignal,
): Promise<Probe> {
  const answered = new AbortController();
  const late = clock.sleep(ms, answered.signal).then(
    (): Probe => ({
      kind: "silent",
      more: (longer) => waitFor(answer, connection, longer, clock, signal),
      close: () => connection.close(),
    }),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    answered.abort();
  }
}
