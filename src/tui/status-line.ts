/**
 * The line that a program of the user writes: run soon after something changed, one at a time, at most five seconds. What it
 * printed stands until another run replaces it.
 */
import { messageOf } from "../abi/errors.ts";
import type { StatusInput } from "../abi/print/status-line.ts";
import type { ChatClient } from "../cli/chat/client.ts";
import type { Call } from "../cli/command.ts";
import { type ProgramOutput, runProbe } from "../cli/run/shell-line.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { Vim } from "./editor/vim.ts";
import type { Preferences, StatusProgram } from "./preferences.ts";
import { branchOf } from "./screens/session-picker.ts";
import type { Model } from "./state/model.ts";
import { statusInput, type Tally } from "./state/status-input.ts";
import type { Line } from "./text/line.ts";
import { colouredLine, cutLine, inStyle } from "./text/line.ts";
import type { EntryLook } from "./view/entry-lines.ts";

/** What is changed in this time leads to one run, in ms. */
const DEBOUNCE_MS = 300;
/** The most lines that are shown, and the most characters of one that are looked at. */
const MAX_LINES = 5;
const MAX_CHARS = 2_000;

/** What the program is told of. */
interface Told {
  readonly client: ChatClient;
  readonly pid: number;
  readonly cwd: string;
  readonly model: Model;
  readonly tally: Tally;
  readonly preferences: Preferences;
  readonly vim: Vim | undefined;
  readonly call: Call;
  readonly words: Phrases;
  say(words: string, level: "warning"): void;
  changed(): void;
}

interface Surroundings {
  input(): Promise<StatusInput>;
  run(program: StatusProgram, input: string, signal: AbortSignal): Promise<ProgramOutput>;
  /** The first run of a command failed. */
  failed(words: string): void;
  changed(): void;
}

export class StatusLine implements Disposable {
  readonly #at: Surroundings;
  #program: StatusProgram | undefined;
  #note = "";
  #lines: readonly string[] = [];
  #seen = "";
  #soon: NodeJS.Timeout | undefined;
  #again: NodeJS.Timeout | undefined;
  #running: AbortController | undefined;
  /** A run that waits for the end of the one before. */
  #isDue = false;
  #isFirst = true;
  #isOver = false;

  constructor(at: Surroundings) {
    this.#at = at;
  }

  /** `note`: shown in its place. A changed command runs at once. */
  use(program: StatusProgram | undefined, note = ""): void {
    const [before, noted] = [this.#program, this.#note];
    this.#program = program;
    this.#note = note;
    if (note !== noted) this.#at.changed();
    if (program?.refreshMs !== before?.refreshMs) this.#repeat(program?.refreshMs);
    if (program?.command === before?.command) return;
    this.#isFirst = true;
    this.#lines = [];
    clearTimeout(this.#soon);
    this.#soon = undefined;
    if (program === undefined) this.#running?.abort();
    else this.#start();
    this.#at.changed();
  }

  /** There is a program whose line may come. */
  get isOn(): boolean {
    return this.#program !== undefined;
  }

  /** What it shows may be different now. */
  soon(): void {
    if (this.#program === undefined || this.#isOver) return;
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#start();
    }, DEBOUNCE_MS);
  }

  /** As above, where these facts are not those of the last time. */
  saw(facts: string): void {
    if (facts === this.#seen) return;
    this.#seen = facts;
    this.soon();
  }

  /** Below the mode line: dimmed where the program says nothing else. */
  lines({ theme, width }: EntryLook): readonly Line[] {
    if (this.#note !== "") return [cutLine([{ text: `  ${this.#note}`, style: theme.dim }], width)];
    const before: Line = [{ text: " ".repeat(this.#program?.padding ?? 0), style: "" }];
    return this.#lines.map((text) => cutLine([...before, ...inStyle(colouredLine(text), theme.dim)], width));
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#soon);
    clearInterval(this.#again);
    this.#running?.abort();
  }

  #repeat(everyMs: number | undefined): void {
    clearInterval(this.#again);
    this.#again = everyMs === undefined ? undefined : setInterval(() => this.#start(), everyMs);
    this.#again?.unref();
  }

  /** The run before is ended first: there is one child at a time. */
  #start(): void {
    if (this.#running === undefined) {
      this.#running = new AbortController();
      void this.#run(this.#running.signal);
    } else {
      this.#isDue = true;
      this.#running.abort();
    }
  }

  async #run(signal: AbortSignal): Promise<void> {
    const program = this.#program;
    try {
      const input = JSON.stringify(await this.#at.input());
      if (!signal.aborted && program !== undefined)
        this.#take(await this.#at.run(program, input, signal), signal);
    } catch (error) {
      // the daemon is gone, or does not run it: what is there stays
      this.#fail(messageOf(error));
    }
    this.#running = undefined;
    const isDue = this.#isDue && !this.#isOver && this.#program !== undefined;
    this.#isDue = false;
    if (isDue) this.#start();
  }

  #take({ exit, stdout, stderr }: ProgramOutput, signal: AbortSignal): void {
    if (signal.aborted) return;
    if (exit !== "0") {
      this.#fail(`exit ${exit} ${stderr.trim().split("\n", 1)[0] ?? ""}`.trim());
      return;
    }
    this.#isFirst = false;
    const lines = stdout
      .split("\n")
      .map((line) => line.trim().slice(0, MAX_CHARS))
      .filter((line) => line !== "")
      .slice(0, MAX_LINES);
    if (lines.join("\n") === this.#lines.join("\n")) return;
    this.#lines = lines;
    this.#at.changed();
  }

  #fail(words: string): void {
    if (this.#isFirst && !this.#isOver) this.#at.failed(words);
    this.#isFirst = false;
  }
}

/** What the program is told is asked of the daemon just before it runs. */
export function statusLineOf(app: Told): StatusLine {
  return new StatusLine({
    input: () => inputOf(app),
    run: ({ command, isBrought }, input, signal) =>
      runProbe(app.call.host, command, { cwd: app.cwd, input, isConfined: isBrought, signal }),
    failed: (words) => app.say(app.words.session.statusLine(words), "warning"),
    changed: () => app.changed(),
  });
}

async function inputOf({ client, pid, cwd, model, tally, preferences, vim, call }: Told) {
  const { sessions } = await client.request("session.list", { cwd });
  const context = await client.request("context.stat", { pid, brief: true }).catch(() => undefined);
  const cost = await client.request("cost.get", { by: "pid", pid }).catch(() => undefined);
  return statusInput({
    session: sessions.find((session) => session.pid === pid),
    context,
    cost,
    costUsd: cost?.lines.reduce((sum, { usd }) => sum + usd, 0) ?? 0,
    tally,
    model: context !== undefined && context.model !== "" ? context.model : model.model,
    mode: model.mode,
    cwd,
    addedDirs: preferences.addedDirs,
    version: call.host.version,
    vim: vim?.mode,
    branchOf,
    now: Date.now(),
  });
}
