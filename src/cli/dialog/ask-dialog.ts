/**
 * Questions of the permission gate on a terminal, one at a time, in order of arrival. Each stays until it is answered
 * here, answered elsewhere, or void. Only a key pressed after a question was drawn can answer it.
 */
import type { AskAnswer, AskReply, AskRule, QuestionItem } from "../../abi/ask.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { AskClosedEvent, AskEvent } from "../../abi/wire-events.ts";
import { alwaysLines, askBlock, askedLine, destinationOf, excerptLines } from "../screen/ask-lines.ts";
import { plainLine } from "../screen/text/plain-text.ts";
import { brokenAtBlanks } from "../screen/text/width.ts";
import { en, type Phrases } from "../screen/words/en.ts";
import { Keyboard } from "../terminal/keyboard.ts";
import { enterLine } from "../terminal/line-entry.ts";
import type { Input } from "../terminal/streams.ts";
import { hearAnswers, type QuestionTerminal } from "./question-dialog.ts";

/** The daemon blocks on the user long before one process can ask this often. */
const MAX_QUESTIONS = 100;
/** How an amount begins. */
const AMOUNT = /^[+$\d]/;

/** Enter, Escape and Ctrl-D: no is the default. */
const ESCAPE = "\x1b";
const NO_KEYS: ReadonlySet<string> = new Set(["\r", "\n", ESCAPE, "\x04"]);

interface Surroundings {
  readonly input: Input;
  readonly onInterrupt: () => void;
  /** The question is put once more, in place of what it has shown so far. */
  readonly onAgain?: (() => void) | undefined;
  /** Esc said no: the run goes no further either. In what a question asks further, Esc only goes back. */
  readonly onEscape?: (() => void) | undefined;
  write(text: string): Promise<void>;
  /**
   * Sends the reply to the daemon; shows its own failure. False: the reply was not accepted, and the question stays
   * open.
   */
  answer(askId: string, reply: AskReply): Promise<boolean>;
  /** The arguments as edited by the user; undefined: unchanged. Absent: editing is not possible here. */
  readonly edit?: (text: string, ask: EditLine) => Promise<Readonly<Record<string, unknown>> | undefined>;
  /** In the language of the user; read anew for each question. */
  readonly words?: Phrases["ask"];
  /** The answers have numbers, too, and the one that Enter gives is named. */
  readonly isNumbered?: boolean;
  /** Called once all of a long text is written, of which a part was shown before. */
  readonly onWhole?: (() => void) | undefined;
  /** Called with each answered question of an agent, where its rows can leave the screen. */
  readonly onAnswered?: ((question: string, answer: string) => void) | undefined;
  /** Of a terminal that would break a long line inside of a word. */
  readonly columns?: number | undefined;
  /** Of the screen, whose height bounds what is shown of a text. */
  readonly rows?: number | undefined;
}

/** Lets the user edit one line; undefined: the user gave up. */
export type EditLine = (prompt: string, initial: string) => Promise<string | undefined>;

interface Question {
  readonly asked: AskEvent;
  /** Fires when the question is closed from elsewhere; the reason is the answer given there, or null if it is void. */
  readonly closed: AbortController;
}

type Key = "tell" | "edit" | "view" | "amount";

/** `again`: nothing was answered, and the question is drawn again. */
type Heard = AskReply | "again" | undefined;

export class AskDialog implements AsyncDisposable {
  readonly #around: Surroundings;
  readonly #questions = new Map<string, Question>();
  #last: Promise<void> = Promise.resolve();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get #words(): Phrases["ask"] {
    return this.#around.words ?? en.ask;
  }

  /** How many open questions wait behind the one that is put. */
  get waiting(): number {
    const open = [...this.#questions.values()].filter(({ closed }) => !closed.signal.aborted);
    return Math.max(0, open.length - 1);
  }

  /** Handles an `ask` event. Questions beyond the bound are left to other clients. */
  ask(event: AskEvent): void {
    const { ask_id: id } = event;
    if (this.#questions.has(id) || this.#questions.size >= MAX_QUESTIONS) return;
    const question = { asked: event, closed: new AbortController() };
    this.#questions.set(id, question);
    this.#last = this.#last.then(() => this.#put(id, question));
  }

  /** Handles an `ask_closed` event. */
  close({ ask_id: id, answer }: AskClosedEvent): void {
    this.#questions.get(id)?.closed.abort(answer);
  }

  /** Withdraws the open questions and restores the terminal. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const { closed } of this.#questions.values()) closed.abort(null);
    await this.#last;
  }

  async #put(id: string, question: Question): Promise<void> {
    const { signal } = question.closed;
    try {
      if (signal.aborted) return;
      using keyboard = new Keyboard(this.#around.input, this.#around.onInterrupt);
      await keyboard.open(signal);
      const { questions } = question.asked;
      if (questions !== undefined) return await this.#putAll(keyboard, question, questions);
      for (let isWhole = false; !signal.aborted; ) {
        const isCut = await this.#draw(question, isWhole);
        if (isWhole) this.#around.onWhole?.();
        await keyboard.settle(signal);
        const heard = await this.#hear(keyboard, question, isCut);
        if (heard === "view") isWhole = true;
        if (heard === "view" || heard === "again") {
          this.#around.onAgain?.();
          continue;
        }
        if (heard === undefined || (await this.#around.answer(id, heard))) return;
      }
    } finally {
      this.#questions.delete(id);
    }
  }

  /** The agent's own questions to the user, not the gate's. A question whose answer is not accepted is asked again. */
  async #putAll(
    keyboard: Keyboard,
    { asked: { pid, ask_id: id, path }, closed }: Question,
    questions: readonly QuestionItem[],
  ): Promise<void> {
    const { signal } = closed;
    const terminal: QuestionTerminal = {
      words: this.#words,
      columns: this.#around.columns,
      write: (text) => this.#around.write(text),
      keys: () => keyboard.next(signal),
      line: (prompt, initial) => this.#line(keyboard, prompt, initial, signal),
      settled: () => keyboard.settle(signal),
      answered: this.#around.onAnswered,
      get isClosed() {
        return signal.aborted;
      },
    };
    if (path !== undefined) await this.#around.write(`  ${this.#words.by(plainLine(path))}\n`);
    for (let isDone = false; !isDone; ) {
      const reply = await hearAnswers(pid, questions, terminal);
      if (reply === undefined) await this.#voided(signal);
      isDone = reply === undefined || (await this.#around.answer(id, reply));
    }
  }

  async #draw({ asked }: Question, isWhole: boolean): Promise<boolean> {
    const words = this.#words;
    const most = isWhole ? Number.POSITIVE_INFINITY : excerptLines(this.#around.rows);
    const { lines, isCut } = askBlock(asked, most, words);
    const { isNumbered = false, columns = Number.POSITIVE_INFINITY } = this.#around;
    const keys = (isNumbered ? numberedKeys : plainKeys)(asked, isCut, words);
    const all = [...lines, `${askedLine(asked, words)} ${keys}`];
    await this.#around.write(`${all.map((line) => brokenAtBlanks(line, columns)).join("\n")} `);
    return isCut;
  }

  async #hear(keyboard: Keyboard, question: Question, isCut: boolean): Promise<Heard | "view"> {
    const { asked, closed } = question;
    const { signal } = closed;
    for (;;) {
      const sent = await keyboard.next(signal);
      if (sent === undefined) return this.#voided(signal);
      const keys = lettered(sent, asked);
      const mode = asked.modes?.find((each) => keys.trim().toLowerCase() === MODE_KEYS[each]);
      if (mode !== undefined) {
        await this.#around.write(`${mode}\n`);
        return { answer: "yes", words: mode };
      }
      const more = moreOf(keys, asked, isCut);
      const answer = more === undefined ? answerOf(keys, asked.options) : undefined;
      if (more === undefined && answer === undefined) continue;
      if (keys === ESCAPE) this.#around.onEscape?.();
      // the key that opens the amount may be its first digit
      const taken = more === "amount" ? "" : this.#words.taken[more ?? answer ?? "no"];
      await this.#around.write(`${taken}\n`);
      if (more === "view") return "view";
      if (more === "tell") return this.#tell(keyboard, signal);
      if (more === "edit") return this.#edit(keyboard, question);
      if (more === "amount") return this.#amount(keyboard, keys, signal);
      return answer === "always" ? this.#always(keyboard, question) : { answer: answer ?? "no" };
    }
  }

  async #voided(signal: AbortSignal): Promise<undefined> {
    await this.#around.write(`${elsewhere(signal, this.#words)}\n`);
    return undefined;
  }

  /** A no with a reason for the model. */
  async #tell(keyboard: Keyboard, signal: AbortSignal): Promise<Heard> {
    const words = await this.#line(keyboard, this.#words.because, "", signal);
    if (words === undefined) return signal.aborted ? this.#voided(signal) : "again";
    return words.trim() === "" ? { answer: "no" } : { answer: "no", words: words.trim() };
  }

  /** A yes with the amount to add. Esc and an empty line grant nothing. */
  async #amount(keyboard: Keyboard, keys: string, signal: AbortSignal): Promise<Heard> {
    const initial = AMOUNT.test(keys) ? keys.trim() : "";
    const words = await this.#line(keyboard, this.#words.raise, initial, signal);
    if (words === undefined) return signal.aborted ? this.#voided(signal) : "again";
    return words.trim() === "" ? "again" : { answer: "yes", words: words.trim() };
  }

  async #edit(keyboard: Keyboard, { asked: { arguments: text = "" }, closed }: Question): Promise<Heard> {
    const { signal } = closed;
    const line: EditLine = (prompt, initial) => this.#line(keyboard, prompt, initial, signal);
    const input = await this.#around.edit?.(text, line);
    if (signal.aborted) return this.#voided(signal);
    return input === undefined ? "again" : { answer: "yes", input };
  }

  /** Rule and scope are shown before either is granted; Enter and Esc grant neither. */
  async #always(keyboard: Keyboard, { asked: { rules = [] }, closed }: Question): Promise<Heard> {
    const { signal } = closed;
    const [suggested] = rules;
    if (suggested === undefined) return { answer: "always" };
    let rule = suggested;
    for (;;) {
      await this.#around.write(alwaysLines(rule, this.#words).join("\n"));
      const key = await this.#choice(keyboard, rule, signal);
      await this.#around.write("\n");
      if (signal.aborted) return this.#voided(signal);
      if (key === undefined) return "again";
      if (key !== "edit") return { answer: "always", rule: rule.rule, destination: key };
      const typed = await this.#line(keyboard, this.#words.rule, rule.rule, signal);
      if (typed !== undefined && typed.trim() !== "") rule = { ...rule, rule: typed.trim() };
    }
  }

  async #choice(keyboard: Keyboard, rule: AskRule, signal: AbortSignal) {
    for (;;) {
      const keys = await keyboard.next(signal);
      if (keys === undefined || NO_KEYS.has(keys)) return undefined;
      const word = keys.trim().toLowerCase();
      if (word === "e") return "edit" as const;
      const place = destinationOf(word, rule);
      if (place !== undefined) return place;
    }
  }

  #line(
    keyboard: Keyboard,
    prompt: string,
    initial: string,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { write, columns } = this.#around;
    return enterLine({ keyboard, write, columns }, { prompt, initial }, signal);
  }
}

/** The mode to carry out a plan in. */
const MODE_KEYS: Readonly<Partial<Record<PermissionMode, string>>> = {
  default: "d",
  accept_edits: "c",
  auto: "u",
};

/** The five answers, by the digit that gives each. */
const ANSWERS = ["y", "a", "n", "t", "e"] as const;

/** All that can be pressed. */
function plainKeys(question: AskEvent, isCut: boolean, words: Phrases["ask"]): string {
  const options = question.options.map((option) => words.options[option]);
  return [...options, ...moreKeys(question, isCut, words)].join(" / ");
}

/** The same, the five answers by their digits; none for an amount, whose digits are its own. */
function numberedKeys(question: AskEvent, isCut: boolean, words: Phrases["ask"]): string {
  if (question.amount !== undefined) return plainKeys(question, isCut, words);
  const { yes, always, no } = words.options;
  const named = { y: yes, a: always, n: words.byEnter(no), t: words.tell, e: words.edit };
  const digits = ANSWERS.flatMap((key, at) =>
    moreOf(key, question, false) !== undefined || answerOf(key, question.options) !== undefined
      ? [`${at + 1} ${named[key]}`]
      : [],
  );
  const others = moreKeys(question, isCut, words).filter((key) => key !== words.tell && key !== words.edit);
  return [...digits, ...others].join(" · ");
}

/** A digit as the letter of its answer. */
function lettered(keys: string, { amount }: AskEvent): string {
  const at = amount === undefined && /^[1-5]$/.test(keys) ? Number(keys) - 1 : -1;
  return ANSWERS[at] ?? keys;
}

/** An older daemon that sends only the question accepts only its options. */
function moreKeys(question: AskEvent, isCut: boolean, words: Phrases["ask"]): readonly string[] {
  if (question.amount !== undefined) return [words.amount];
  if (question.path === undefined) return [];
  const edit = question.arguments === undefined ? [] : [words.edit];
  const modes = (question.modes ?? []).flatMap((mode) => words.planModes[mode] ?? []);
  return [...modes, words.tell, ...edit, ...(isCut ? [words.viewAll] : [])];
}

function moreOf(keys: string, question: AskEvent, isCut: boolean): Key | undefined {
  if (question.amount !== undefined)
    return AMOUNT.test(keys) || keys.trim().toLowerCase() === "a" ? "amount" : undefined;
  if (question.path === undefined) return undefined;
  const word = keys.trim().toLowerCase();
  if (word === "t") return "tell";
  if (word === "e" && question.arguments !== undefined) return "edit";
  return word === "v" && isCut ? "view" : undefined;
}

/** undefined: these keys have no meaning here. */
function answerOf(keys: string, options: readonly AskAnswer[]): AskAnswer | undefined {
  if (NO_KEYS.has(keys)) return "no";
  const word = keys.trim().toLowerCase();
  if (word === "") return undefined;
  return options.find((option) => word === option || word === option[0]);
}

function elsewhere({ reason }: AbortSignal, words: Phrases["ask"]): string {
  return typeof reason === "string" ? words.elsewhere(reason) : words.void;
}
