/** `crux` at a terminal, for tests: the real binary in a pty, and the screen that a person would see. */
import { createRequire } from "node:module";
import { type IPty, spawn } from "@lydell/node-pty";
import { CRUX, type World } from "./world.ts";

/** Node finds no names in this module. */
const { Terminal: Xterm } = createRequire(import.meta.url)(
  "@xterm/headless",
) as typeof import("@xterm/headless");

interface Options {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of `crux`. */
  readonly command?: string;
}

/** Ends a wait for what never comes, on a machine that has other things to do too. */
const PATIENCE_MS = 60_000;

export class TerminalWindow implements AsyncDisposable {
  readonly pty: IPty;
  readonly screen: InstanceType<typeof Xterm>;
  /** Every byte that came, as text. */
  bytes = "";
  exitCode: number | undefined;
  readonly #watchers = new Set<() => void>();

  constructor(world: Pick<World, "work" | "env">, args: readonly string[], options: Options = {}) {
    const { columns = 80, rows = 24, env = {}, command = CRUX } = options;
    this.screen = new Xterm({ cols: columns, rows, scrollback: 5_000, allowProposedApi: true });
    this.pty = spawn(command, [...args], {
      cols: columns,
      rows,
      cwd: world.work,
      env: { ...world.env, ...env },
      name: env.TERM ?? "xterm-256color",
    });
    this.pty.onData((data) => {
      this.bytes += data;
      this.screen.write(data, () => this.#look());
    });
    this.pty.onExit(({ exitCode }) => {
      this.exitCode = exitCode;
      this.#look();
    });
  }

  type(keys: string): void {
    this.pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.screen.resize(columns, rows);
    this.pty.resize(columns, rows);
  }

  /** The rows on the screen, without the blanks at their ends. */
  get rows(): readonly string[] {
    const { active } = this.screen.buffer;
    return Array.from({ length: this.screen.rows }, (_, at) => lineOf(active, active.baseY + at));
  }

  /** Everything that can be scrolled to. */
  get everything(): string {
    const { active } = this.screen.buffer;
    return Array.from({ length: active.length }, (_, at) => lineOf(active, at)).join("\n");
  }

  /** The number of the colour in which the first of these letters was last written; -1: the terminal's own. */
  colourOf(text: string): number | undefined {
    const { active } = this.screen.buffer;
    for (let at = active.length - 1; at >= 0; at--) {
      const column = lineOf(active, at).indexOf(text);
      if (column >= 0) return active.getLine(at)?.getCell(column)?.getFgColor();
    }
    return undefined;
  }

  /** Resolves once the screen is as wanted; rejects with the screen when it never is. */
  async until(wanted: (window: this) => boolean, what = String(wanted)): Promise<void> {
    if (wanted(this)) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (wanted(this)) resolve();
    };
    const timer = setTimeout(() => reject(new Error(`never: ${what}\n${this.rows.join("\n")}`)), PATIENCE_MS);
    this.#watchers.add(look);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#watchers.delete(look);
    }
  }

  async shows(text: string): Promise<void> {
    await this.until(({ rows }) => rows.join("\n").includes(text), `shows ${text}`);
  }

  async ended(): Promise<number> {
    await this.until(({ exitCode }) => exitCode !== undefined, "ended");
    return this.exitCode ?? -1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.exitCode === undefined) this.pty.kill("SIGHUP");
    await this.ended();
    this.screen.dispose();
  }

  #look(): void {
    for (const look of [...this.#watchers]) look();
  }
}

function lineOf(buffer: InstanceType<typeof Xterm>["buffer"]["active"], at: number): string {
  return buffer.getLine(at)?.translateToString(true) ?? "";
}
