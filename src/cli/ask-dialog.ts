/**
 * Questions of the permission gate on a terminal. One at a time, in the order they came; each stays until it is
 * answered here, answered elsewhere, or void. Nothing but a key pressed after it was drawn can answer it.
 */
import type { AskAnswer } from "../abi/events.ts";
import type { ProgressPayload } from "../abi/wire.ts";
import type { Input } from "./host.ts";
import { Keyboard } from "./keyboard.ts";
import { safeLine, safeLines } from "./screen/safe-text.ts";

/** The daemon waits for a person far sooner than one process can ask this often. */
const MAX_QUESTIONS = 100;
const LABELS: Readonly<Record<AskAnswer, string>> = { yes: "[y]es", no: "[n]o", always: "[a]lways" };

/** Enter, Escape and Ctrl-D: no is the default. */
const NO_KEYS: ReadonlySet<string> = new Set(["\r", "\n", "\x1b", "\x04"]);

interface Surroundings {
  readonly input: Input;
  readonly onInterrupt: () => void;
  write(text: string): Promise<void>;
  /** Tells the daemon; shows its own failure. */
  answer(askId: string, answer: AskAnswer): Promise<void>;
}

interface Question {
  readonly pid: number;
  readonly text: string;
  readonly detail: string;
  readonly options: readonly AskAnswer[];
  /** Fires when it is closed from elsewhere; the reason is its answer there, null when it is void. */
  readonly closed: AbortController;
}

export class AskDialog implements AsyncDisposable {
  readonly #around: Surroundings;
  readonly #questions = new Map<string, Question>();
  #last: Promise<void> = Promise.resolve();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** An `ask` event. Questions beyond the bound are left to other clients. */
  ask(event: ProgressPayload): void {
    const { ask_id: id, pid, text = "", detail = "", options = ["yes", "no", "always"] } = event;
    if (id === undefined || this.#questions.has(id) || this.#questions.size >= MAX_QUESTIONS) return;
    const question = { pid, text, detail, options, closed: new AbortController() };
    this.#questions.set(id, question);
    this.#last = this.#last.then(() => this.#put(id, question));
  }

  /** An `ask_closed` event. */
  close({ ask_id: id, answer = null }: ProgressPayload): void {
    this.#questions.get(id ?? "")?.closed.abort(answer);
  }

  /** Takes back what is still open; the terminal is as it was. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { closed } of this.#questions.values()) closed.abort(null);
    await this.#last;
  }

  async #put(id: string, question: Question): Promise<void> {
    try {
      const answer = await this.#hear(question);
      if (answer !== undefined) await this.#around.answer(id, answer);
    } finally {
      this.#questions.delete(id);
    }
  }

  async #hear(question: Question): Promise<AskAnswer | undefined> {
    const { closed } = question;
    if (closed.signal.aborted) return undefined;
    using keyboard = new Keyboard(this.#around.input, this.#around.onInterrupt);
    await keyboard.open(closed.signal);
    if (closed.signal.aborted) return undefined;
    await this.#around.write(questionText(question));
    for (;;) {
      const keys = await keyboard.next(closed.signal);
      const answer = keys === undefined ? undefined : answerOf(keys, question.options);
      if (keys !== undefined && answer === undefined) continue;
      await this.#around.write(`${answer ?? elsewhere(closed.signal)}\n`);
      return answer;
    }
  }
}

/** The detail on lines of its own, then the question, with the cursor left behind it. */
function questionText({ pid, text, detail, options }: Omit<Question, "closed">): string {
  const lines = detail === "" ? [] : safeLines(detail).replace(/\n+$/, "").split("\n");
  const shown = lines.map((line) => `  ${line}\n`).join("");
  return `${shown}[agent/${pid}] allow ${safeLine(text)}? ${options.map((option) => LABELS[option]).join(" / ")} `;
}

/** undefined: says nothing here. */
function answerOf(keys: string, options: readonly AskAnswer[]): AskAnswer | undefined {
  if (NO_KEYS.has(keys)) return "no";
  const word = keys.trim().toLowerCase();
  if (word === "") return undefined;
  return options.find((option) => word === option || word === option[0]);
}

function elsewhere({ reason }: AbortSignal): string {
  return typeof reason === "string" ? `(answered elsewhere: ${reason})` : "(no longer needed)";
}
