/**
 * The log of a process, live or ended: the log lines of an agent, the unchanged output of a native. The lines of a
 * process in memory come from there (the newest 256), those of others from the journal; output always comes from the
 * spool.
 */

import { SyscallError } from "../../abi/errors.ts";
import type { LogEntry } from "../../abi/events.ts";
import type { Fact } from "../../abi/fact.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { ProcessKind } from "../../abi/process.ts";
import { ABORTED } from "../../lib/abort.ts";
import { LIMITS } from "../limits.ts";
import type { Journal } from "../ports/journal.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { outputName, type SpoolReader } from "../ports/spools.ts";
import type { LogPiece, Subscription } from "../ports/subscription.ts";
import { Queue } from "../queue.ts";
import { LineTail } from "./line-tail.ts";
import type { LogChannel } from "./log-channel.ts";
import { readLog } from "./log-history.ts";

/** A process in memory, whose log is read. */
interface Logged {
  readonly seed: { readonly kind: ProcessKind; readonly uuid: ProcUuid };
  readonly past: { recall(): Promise<void> };
  /** null: its channels are closed. */
  readonly logs: LogChannel | null;
}

interface Logging {
  readonly ports: Pick<KernelPorts, "journal" | "spools">;
  readonly table: { get(pid: Pid): Logged | undefined };
}

interface LogOptions {
  /** The number of last lines; of output, at most `logTailBytes`. */
  readonly tail: number;
  /** Continue until the process ends. */
  readonly follow: boolean;
}

export async function openLogs(
  core: Logging,
  pid: Pid,
  options: LogOptions,
): Promise<Subscription<LogPiece>> {
  const proc = core.table.get(pid);
  const earlier = proc === undefined ? [] : await earlierLines(core.ports.journal, proc, options.tail);
  const logs = proc?.logs;
  if (proc !== undefined && logs !== undefined && logs !== null) {
    const output =
      proc.seed.kind === "native" ? core.ports.spools.find(outputName(proc.seed.uuid)) : undefined;
    return output === undefined ? linesOf(logs.attach(options), earlier) : outputOf(output, options);
  }
  return openGone(core, pid, options);
}

/**
 * Reads the history, after which the process's own lines include those of earlier daemons. If it cannot be read
 * completely, returns the lines before the damage.
 */
async function earlierLines(journal: Journal, proc: Logged, tail: number): Promise<readonly LogEntry[]> {
  try {
    await proc.past.recall();
    return [];
  } catch {
    return (await readLog(journal, proc.seed.uuid, tail))?.entries ?? [];
  }
}

async function openGone(core: Logging, pid: Pid, { tail }: LogOptions): Promise<Subscription<LogPiece>> {
  const uuid = await core.ports.journal.processOf(pid);
  const history = uuid === undefined ? undefined : await readLog(core.ports.journal, uuid, tail);
  if (uuid === undefined || history === undefined)
    throw notFound(`process not found: ${pid}`, { kind: "no_process", pid });
  if (history.kind !== "native") return linesOf(ended(history.entries));
  const output = core.ports.spools.find(outputName(uuid));
  if (output === undefined) throw notFound(`the output of process ${pid} is not kept any more`);
  return outputOf(output, { tail, follow: false });
}

function notFound(message: string, fact?: Fact): SyscallError {
  return new SyscallError({ syscall: "Logs", pid: PID_KERNEL, code: "NOT_FOUND", message, fact });
}

function ended(entries: readonly LogEntry[]): Subscription<LogEntry> {
  const queue = new Queue<LogEntry>({ capacity: entries.length, drop: "newest", losable: () => false });
  for (const entry of entries) queue.push(entry);
  queue.end();
  return queue;
}

function linesOf(entries: Subscription<LogEntry>, earlier: readonly LogEntry[] = []): Subscription<LogPiece> {
  return {
    get dropped() {
      return entries.dropped;
    },
    close: () => entries.close(),
    async *[Symbol.asyncIterator]() {
      for (const entry of earlier) yield { entry };
      for await (const entry of entries) yield { entry };
    },
  };
}

/** The size of one read of a spool, in bytes. */
const CHUNK = 256 * 1024;

/** The spool is read only as fast as the subscriber asks; nothing is queued. */
function outputOf(output: SpoolReader, options: LogOptions): Subscription<LogPiece> {
  const stop = new AbortController();
  const close = (): void => {
    if (stop.signal.aborted) return;
    stop.abort(ABORTED);
    output.close();
  };
  return {
    dropped: 0,
    close,
    async *[Symbol.asyncIterator]() {
      try {
        yield* piecesOf(output, options, stop.signal);
      } catch (error) {
        if (!stop.signal.aborted) throw error;
      } finally {
        close();
      }
    },
  };
}

async function* piecesOf(
  output: SpoolReader,
  { tail, follow }: LogOptions,
  signal: AbortSignal,
): AsyncGenerator<LogPiece> {
  const last = await lastLines(output, tail, signal);
  if (last.byteLength > 0) yield { data: last };
  while (follow && !signal.aborted) {
    const data = await output.read(CHUNK, signal);
    if (data.byteLength === 0) return;
    yield { data };
  }
}

/** The last lines of what the spool holds now. What is written meanwhile is left for `follow`. */
async function lastLines(output: SpoolReader, tail: number, signal: AbortSignal): Promise<Uint8Array> {
  const lines = new LineTail(tail, LIMITS.logTailBytes);
  for (let left = output.available; left > 0 && output.available > 0; ) {
    const chunk = await output.read(Math.min(left, CHUNK), signal);
    if (chunk.byteLength === 0) break;
    lines.push(chunk);
    left -= chunk.byteLength;
  }
  return lines.bytes;
}
