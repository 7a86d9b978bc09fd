/** The end of a program as the binary wire tells it, in answers and in events. */
import { constants } from "node:os";

interface Ended {
  readonly exit: {
    readonly code: number;
    readonly reason: string;
    readonly kind: "done" | "fault" | "killed";
  };
  readonly endedAt: number;
}

interface Who<U> {
  readonly id: string;
  readonly pid: number;
  /** null: it was never measured. */
  readonly usage: U | null;
}

/** Of a program that the kernel ended because its `timeoutMs` was over: it was not done by itself. */
const TIMEOUT = "timeout";

const NOTHING = { cpuMs: 0, rssBytes: 0, peakRssBytes: 0, children: 0 };

/** `signal`: the name of the signal that ended it, from the code 128 + n; null: none did. */
export function exitReport<U>({ id, pid, usage }: Who<U>, { exit, endedAt }: Ended) {
  const { code: exitCode, reason } = exit;
  const kind = exit.kind === "done" && reason === TIMEOUT ? "killed" : exit.kind;
  const ended = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128);
  const signal = kind === "killed" ? (ended?.[0] ?? null) : null;
  return { id, pid, exitCode, signal, reason, kind, endedAt, usage: usage ?? NOTHING };
}
