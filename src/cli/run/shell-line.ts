/**
 * Runs a line that the user typed, by the user's shell, as a process of the kernel that belongs to the user: it passes the
 * gate as `crux exec` does, stands in `crux ps` and the journal, and ends with this client.
 */
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
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
const SHELLS: ReadonlySet<string> = new Set(["bash", "zsh", "dash", "ksh", "sh"]);

interface Place {
  readonly cwd: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly onOutput: (soFar: string) => void;
}

export async function runShellLine(
  host: Pick<Host, "daemon" | "env">,
  command: string,
  { cwd, signal, onOutput }: Place,
): Promise<ShellLine> {
  const kernel = await host.daemon.kernel();
  try {
    const { pid } = await kernel.call("process.spawn", {
      id: `shell:${randomUUID().slice(0, 8)}`,
      command: ["/usr/bin/env", `PATH=${host.env.PATH ?? ""}`, shellOf(host.env.SHELL), "-c", command],
      options: {
        cwd,
        env: variables(host.env),
        stdin: "null",
        onSpoolFull: "block",
        onDisconnect: "terminate",
      },
    });
    const stop = (): void => {
      kernel.call("process.kill", { pid, signal: SIGNALS.SIGTERM, graceMs: GRACE_MS }).catch(() => {});
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const output = new Excerpt();
    const { stdout, stderr } = await kernel.output(pid);
    await Promise.all(
      [stdout, stderr].map(async (chunks) => {
        const decoder = new TextDecoder();
        for await (const { data } of chunks ?? []) {
          output.add(decoder.decode(data ?? new Uint8Array(), { stream: true }));
          onOutput(output.text);
        }
      }),
    );
    const { exitCode, signal: name } = await kernel.call("process.wait", { pid });
    return { command, exit: name ?? String(exitCode), output: output.text };
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
