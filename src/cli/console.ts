import type { Mode } from "./args.ts";
import type { Host } from "./host/host.ts";
import { errorJson, errorLines } from "./screen/errors.ts";
import { oneLine } from "./screen/text/json.ts";
import { type Words, wordsIn, wordsOf } from "./screen/text/language.ts";
import { type Paint, paintFor } from "./screen/text/paint.ts";
import { safeScreen } from "./screen/text/safe-text.ts";
import { brokenAtBlanks } from "./screen/text/width.ts";
import { en, type Phrases } from "./screen/words/en.ts";
import type { Output } from "./terminal/streams.ts";

/** The two streams of a command in its output mode. Each write resolves after the text was flushed. */
export class Console {
  readonly mode: Mode;
  readonly words: Words;
  /** What questions and conversations say; of other commands always English. */
  catalogue: Phrases;
  /** For stdout; `errorPaint` is for stderr. */
  readonly paint: Paint;
  readonly errorPaint: Paint;
  readonly #stdout: Output;
  readonly #stderr: Output;

  constructor(host: Pick<Host, "env" | "stdout" | "stderr" | "catalogue">, mode: Mode, noColour: boolean) {
    const refused = noColour || (host.env.NO_COLOR ?? "") !== "" || host.env.TERM === "dumb";
    this.mode = mode;
    this.words = host.catalogue === undefined ? wordsOf(host.env) : wordsIn(host.catalogue.language);
    this.catalogue = host.catalogue ?? { ...en, faults: { ...en.faults, hint: this.words.hint } };
    this.paint = paintFor(host.stdout.isTTY === true, refused);
    this.errorPaint = paintFor(host.stderr.isTTY === true, refused);
    this.#stdout = host.stdout;
    this.#stderr = host.stderr;
  }

  /** Text and a newline on stdout. */
  async line(text: string): Promise<void> {
    await put(this.#stdout, `${shown(text, this.#stdout)}\n`);
  }

  /** Text of a model on stdout: its lines at a terminal are broken at blanks. */
  async text(text: string): Promise<void> {
    await this.line(prose(text, this.#stdout, ""));
  }

  /** Text or bytes on stdout as they are. */
  async raw(data: string | Uint8Array): Promise<void> {
    await put(this.#stdout, data);
  }

  /** On stderr: at a terminal it is broken at blanks. */
  async errorLine(text: string): Promise<void> {
    await put(this.#stderr, `${prose(shown(text, this.#stderr), this.#stderr)}\n`);
  }

  /** Prose on stderr. */
  async notice(text: string, paint = (lines: string): string => lines): Promise<void> {
    await this.errorLine(paint(prose(text, this.#stderr)));
  }

  /** The output is a screen for people, not input for scripts. */
  get isScreen(): boolean {
    return this.mode === "default" || this.mode === "verbose";
  }

  /** The screen is at a terminal, so it shows call lines too. */
  get showsCalls(): boolean {
    return this.isScreen && this.#stdout.isTTY === true;
  }

  /** The current width of the terminal. */
  get columns(): number {
    return this.#stdout.columns || 80;
  }

  /** The width that a table has; undefined: the output is not at a terminal. */
  get room(): number | undefined {
    return this.showsCalls ? this.columns : undefined;
  }

  /** A message for the user in every mode, kept out of the output that a script reads. */
  async aside(text: string): Promise<void> {
    if (this.isScreen) await this.line(prose(text, this.#stdout));
    else await this.notice(text);
  }

  /** The wrapped result object of a command that succeeded. */
  async data(data: unknown): Promise<void> {
    await this.line(oneLine({ ok: true, data }));
  }

  async fail(error: unknown): Promise<void> {
    if (this.mode === "json") await this.line(errorJson(error));
    else await this.errorLine(errorLines(error, this.catalogue.faults, this.errorPaint));
  }
}

/** Whatever a command has not made safe itself; a script gets its bytes as they are. */
function shown(text: string, { isTTY }: Output): string {
  return isTTY === true ? safeScreen(text) : text;
}

/** A terminal would break a long line in the middle of a word. */
function prose(text: string, { isTTY, columns = 80 }: Output, more?: string): string {
  if (isTTY !== true) return text;
  return text
    .split("\n")
    .map((line) => brokenAtBlanks(line, columns, more))
    .join("\n");
}

function put(output: Output, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    output.write(text, resolve);
  });
}
