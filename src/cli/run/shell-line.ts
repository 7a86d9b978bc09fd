/**
 * Runs a line that the user typed, by the user's shell, as a process of the kernel that belongs to the user: it passes the
 * gate as `crux exec` does, stands in `crux ps` and the journal, and ends with this client.
 */
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { IpcSpawnOptions } from "../../abi/methods/ipc/process.ts";
import { SIGNALS } from "../../abi/process.ts";
import type { ShellLine } from "../../lib/text/shell-line.ts";
import type { Host } from "../host/host.ts";

/** The daemon takes none of these from a request, or sets them itself for a command without a terminal. */
const REFUSED =
  /^(?:IFS|ENV|SHELLOPTS|BASHOPTS|CDPATH|GLOBIGNORE|PS4|PROMPT_COMMAND|NODE_OPTIONS|RUBYOPT|PATH|TERM|PAGER|NO_COLOR)$|^(?:BASH_|LD_|DYLD_|GIT_|PYTHON|PERL5|CRUX_|KAIRO_)/;
/** What prints the environment would show them to the model. */
const SECRET = /_(?:API_KEY|AUTH_TOKEN|SECRET|PASSWORD|TOKEN)$/;
/** What is kept of the output: its begin, and its end. */
const HEAD_CHARS = 10_000;
const TAIL_CHARS = 20_000;
const GRACE_MS = 2_000;
/** How long a probe may run, in ms, and how much of its output is kept. */
const PROBE_MS = 5_000;
const PROBE_SPOOL_BYTES = 65_536;
const PROBE_CHARS = 16_384;
const SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "dash", "ksh", "sh"]);

interface Place {
  readonly cwd: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Of a long output `soFar` has its begin and its end; `text` is what has just come. */
  readonly onOutput: (soFar: string, text: string) => void;
}

type Access = Pick<Host, "daemon" | "env">;

export async function runShellLine(host: Access, command: string, place: Place): Promise<ShellLine> {
  const { cwd, signal, onOutput } = place;
  const output = new Excerpt();
  const exit = await follow(host, command, {
    name: "shell",
    options: { cwd, stdin: "null", onSpoolFull: "block" },
    signal,
    onText: (text) => {
      output.add(text);
      onOutput(output.text, text);
    },
  });
  return { command, exit, output: output.text };
}

export interface ProgramOutput {
  /** The exit code, or the name of the signal. */
  readonly exit: string;
  readonly stdout: string;
  readonly stderr: string;
}

interface Probe {
  readonly cwd: string;
  readonly input: string;
  /** In the sandbox of an agent's commands. */
  readonly isConfined: boolean;
  readonly signal: AbortSignal;
}

/** A short program for the client itself: it reads `input`, has five seconds, and the begin of its output is taken. */
export async function runProbe(
  host: Access,
  command: string,
  { cwd, input, isConfined, signal }: Probe,
): Promise<ProgramOutput> {
  const confined = isConfined ? { confined: true as const } : {};
  const texts = { stdout: "", stderr: "" };
  const exit = await follow(host, command, {
    name: "statusline",
    options: { cwd, ...confined, onSpoolFull: "drop", spoolBytes: PROBE_SPOOL_BYTES, timeoutMs: PROBE_MS },
    input,
    signal,
    onText: (text, stream) => {
      texts[stream] = `${texts[stream]}${text}`.slice(0, PROBE_CHARS).toWellFormed();
    },
  });
  return { exit, ...texts };
}

/** `words`: our own, without quotes. False: the desktop has no program that shows them. */
export async function showOnDesktop(host: Access, words: string, cwd: string): Promise<boolean> {
  const exit = await follow(host, `notify-send -a Crux Crux '${words}'`, {
    name: "notice",
    options: { cwd, stdin: "null", onSpoolFull: "drop", spoolBytes: PROBE_SPOOL_BYTES, timeoutMs: PROBE_MS },
    signal: new AbortController().signal,
    onText: () => {},
  });
  return exit === "0";
}

interface Following {
  /** Its name in `crux ps`, with a number of its own behind it. */
  readonly name: string;
  readonly options: IpcSpawnOptions;
  /** All that it reads; absent: it reads nothing. */
  readonly input?: string;
  readonly signal: AbortSignal;
  readonly onText: (text: string, stream: "stdout" | "stderr") => void;
}

/** Starts it and follows it to its end: the exit code, or the name of the signal. */
async function follow(host: Access, command: string, wish: Following): Promise<string> {
  const { name, options, input, signal, onText } = wish;
  const kernel = await host.daemon.kernel();
  try {
    const { pid } = await kernel.call("process.spawn", {
      id: `${name}:${randomUUID().slice(0, 8)}`,
      command: ["/usr/bin/env", `PATH=${host.env.PATH ?? ""}`, shellOf(host.env.SHELL), "-c", command],
      options: { env: variables(host.env), onDisconnect: "terminate", ...options },
    });
    const stop = (): void => {
      kernel.call("process.kill", { pid, signal: SIGNALS.SIGTERM, graceMs: GRACE_MS }).catch(() => {});
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    // whoever does not read it is none the worse for it
    if (input !== undefined)
      kernel.call("process.stdin.write", { pid, data: `${input}\n`, eof: true }).catch(() => {});
    const output = await kernel.output(pid);
    await Promise.all(
      (["stdout", "stderr"] as const).map(async (stream) => {
        const decoder = new TextDecoder();
        for await (const { data } of output[stream] ?? [])
          onText(decoder.decode(data ?? new Uint8Array(), { stream: true }), stream);
      }),
    );
    const { exitCode, signal: by } = await kernel.call("process.wait", { pid });
    return by ?? String(exitCode);
  } finally {
    kernel.close();
  }
}

function variables(env: Host["env"]): Record<string, string> {
  const plain = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && /^[A-Za-z_]\w*$/.test(name) && !REFUSED.test(name) && !SECRET.test(name)
      ? [[name, value] as const]
      : [],
  );
  return Object.fromEntries(plain);
}

function shellOf(path = ""): string {
  return path.startsWith("/") && SHELLS.has(basename(path)) ? path : "/bin/sh";
}

/** The begin and the end of a text that grows without bound. */
export class Excerpt {
  #head = "";
  #tail = "";
  #left = 0;

  add(text: string): void {
    const room = HEAD_CHARS - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    const over = this.#tail.length - TAIL_CHARS;
    if (over <= 0) return;
    this.#left += over;
    this.#tail = this.#tail.slice(over);
  }

  get text(): string {
    const middle = this.#left === 0 ? "" : `\n… ${this.#left} characters more …\n`;
    return `${this.#head}${middle}${this.#tail}`.toWellFormed();
  }
}
