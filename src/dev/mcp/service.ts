/**
 * Runs a local server as a kernel process: the OS child runs exactly as long as the service. To stop it, its input is
 * closed and its group gets INT; 100 ms later it gets TERM, 400 ms after that KILL.
 */
import { constants } from "node:os";
import { basename } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Pid } from "../../abi/ids.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { Clock } from "../../abi/program.ts";
import type { ExecChild, HostExec } from "../../kernel/ports/host.ts";
import type { Services } from "../../kernel/ports/services.ts";
import { abortable } from "../../lib/abort.ts";
import type { LocalLaunch } from "./launch.ts";
import { MCP_LIMITS } from "./limits.ts";
import { LineSplitter } from "./lines.ts";
import { StdioTransport } from "./stdio-transport.ts";

const WORDS_CHARS = 600;

export interface ServiceDeps {
  readonly exec: HostExec;
  readonly services: () => Services;
  readonly clock: Clock;
}

/** How a program ended. `isMissing`: it never started. */
interface ServerEnd {
  readonly words: string;
  readonly isMissing: boolean;
}

export interface LocalService {
  readonly pid: Pid;
  readonly transport: StdioTransport;
  /** null while it runs; set before its connection closes. */
  readonly end: ServerEnd | null;
  /** Resolves when the OS child and its descendants have ended. */
  readonly over: Promise<void>;
  /** The end of its stderr output, on one line; empty if it printed nothing. */
  said(): string;
  /** Stops it; resolves when it has ended and was reaped. */
  stop(): Promise<void>;
}

type RunContext = Parameters<Parameters<Services["start"]>[0]["run"]>[0];
type RunningChild = Omit<LocalService, "pid" | "stop">;

/** UNAVAILABLE: the kernel is shutting down, or has no room. If the program does not start, `end` says so. */
export async function startService(
  deps: ServiceDeps,
  launch: LocalLaunch,
  signal: AbortSignal,
): Promise<LocalService> {
  const begun = Promise.withResolvers<RunningChild>();
  const services = deps.services();
  const pid = await services.start({
    name: basename(launch.argv[0] ?? ""),
    intent: `MCP server: ${launch.label.replace(/^stdio: /, "")}`,
    run: (context) => runChild(deps, launch, context, begun.resolve),
  });
  const stop = () => services.stop(pid);
  try {
    return Object.assign(await abortable(begun.promise, signal), { pid, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function runChild(
  { exec, clock }: ServiceDeps,
  launch: LocalLaunch,
  context: RunContext,
  onBegun: (child: RunningChild) => void,
): Promise<ExitStatus> {
  const { pid, signal, killed, log } = context;
  const tail = new Tail(MCP_LIMITS.stderrBytes);
  const serverLog = new ServerLog(log);
  let broken = "";
  let transport: StdioTransport | undefined;
  const child = exec.run(
    {
      argv: launch.argv,
      cwd: launch.cwd,
      env: launch.env,
      sandbox: launch.sandbox,
      stdin: "pipe",
      graceMs: MCP_LIMITS.termMs,
      killed,
      owner: `pid ${pid} ${launch.label}`,
      onOutput: (stream, chunk) => {
        if (stream === "stdout") return transport?.take(chunk);
        tail.push(chunk);
        serverLog.stderr(chunk);
      },
    },
    killed,
  );
  const stopChild = () => void windDown(child, clock);
  transport = new StdioTransport(child, {
    garbage: (line) => serverLog.garbage(line),
    broken: (why) => {
      broken = why;
      stopChild();
    },
  });
  const over = Promise.withResolvers<void>();
  const said = () => tail.words(WORDS_CHARS);
  const running = { transport, end: null as ServerEnd | null, over: over.promise, said };
  onBegun(running);
  if (signal.aborted) stopChild();
  signal.addEventListener("abort", stopChild, { once: true });
  const end = await child.exited;
  signal.removeEventListener("abort", stopChild);
  running.end = { words: wordsOf(end, broken, said()), isMissing: end.error !== undefined };
  over.resolve();
  await transport.close();
  return statusOf(end);
}

/** Ends the child and its descendants; takes at most 600 ms if it ignores signals. */
async function windDown(child: ExecChild, clock: Clock): Promise<void> {
  child.endInput();
  child.signal("SIGINT");
  const stop = new AbortController();
  const over = child.exited.then(() => stop.abort());
  await clock.sleep(MCP_LIMITS.interruptMs, stop.signal).catch(() => {});
  await child.kill();
  await over;
}

type End = Awaited<ExecChild["exited"]>;

function statusOf({ code, signal, error }: End): ExitStatus {
  if (error !== undefined) return { code: 1, reason: error.message, kind: "fault", err: error };
  if (signal !== null)
    return {
      code: 128 + (constants.signals[signal as NodeJS.Signals] ?? 0),
      reason: `killed: ${signal}`,
      kind: "killed",
    };
  return code === 0
    ? { code: 0, reason: "completed", kind: "done" }
    : { code: code ?? 1, reason: `exit ${code}`, kind: "fault" };
}

function wordsOf({ code, signal, error }: End, broken: string, said: string): string {
  if (error !== undefined) return error.message;
  const how = signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`;
  const what = broken === "" ? how : broken;
  return said === "" ? what : `${what}; it said: ${said}`;
}

/**
 * Logs what a server prints besides its messages as log lines of its service. Bounded, because the journal keeps
 * every line.
 */
type LogLine = (level: "info" | "warn" | "error", message: string) => void;

export class ServerLog {
  readonly #say: LogLine;
  readonly #stderr = new LineSplitter(MCP_LIMITS.messageBytes);
  #left: number = MCP_LIMITS.logLines;

  constructor(say: LogLine) {
    this.#say = say;
  }

  stderr(chunk: Uint8Array): void {
    if (this.#left === 0) return;
    for (const line of this.#stderr.push(chunk) ?? []) if (line.trim() !== "") this.#line("info", line);
  }

  /** Logs a line on stdout that is not a message. */
  garbage(line: string): void {
    if (line.trim() !== "") this.#line("warn", `not a message, dropped: ${line}`);
  }

  #line(level: "info" | "warn", text: string): void {
    if (this.#left === 0) return;
    this.#left--;
    const max = MCP_LIMITS.logLineChars;
    this.#say(level, text.length <= max ? text : `${text.slice(0, max)}…`);
    if (this.#left === 0) this.#say("warn", "it prints a lot: no more of it is logged");
  }
}

/** The last bytes of a stream, for the report of its end. */
export class Tail {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Uint8Array): void {
    const joined = Buffer.concat([this.#bytes, chunk]);
    // a copy, because a view would keep all earlier bytes in memory
    this.#bytes = Buffer.from(joined.subarray(Math.max(0, joined.byteLength - this.#maxBytes)));
  }

  /** The last printable text, on one line, at most `maxChars`. */
  words(maxChars: number): string {
    const text = stripVTControlCharacters(this.#bytes.toString("utf8"))
      .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
      .trim();
    return text.length <= maxChars ? text : `… ${text.slice(2 - maxChars)}`;
  }
}
