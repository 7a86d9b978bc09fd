/**
 * Commands of the command line: their questions are asked here, and their output goes into the transcript. And `/btw`, a question
 * beside the conversation: its answer stands in the transcript of this terminal, and nowhere else.
 */
import { messageOf } from "../abi/errors.ts";
import { askAside } from "../cli/chat/aside.ts";
import type { Call } from "../cli/command.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { Output } from "../cli/terminal/streams.ts";
import { innerHost, type Outer } from "./inner-call.ts";
import type { AsideEntry, Model } from "./state/model.ts";
import { asideAsked, asideChanged, inserted } from "./state/reduce.ts";

/** The most that a command's output takes in the transcript. */
const MAX_OUTPUT_CHARS = 100_000;

interface Typed extends Outer {
  readonly size: { readonly columns: number };
  model: Model;
  /** Settings may have changed. */
  prefer(): Promise<void>;
}

export async function runCommand(app: Typed, argv: readonly string[], title: string): Promise<void> {
  const parts: string[] = [];
  const stdout: Output = {
    isTTY: true,
    columns: app.size.columns - 1,
    write: (text, done) => {
      parts.push(String(text));
      done();
      return true;
    },
  };
  const stderr: Output = {
    ...app.box.output,
    isTTY: true,
    // what a question writes is the dialog's, everything else is output
    write: (text, done) => (app.box.isOpen ? app.box.output : stdout).write(text, done),
  };
  await app.call.host.command(argv, innerHost(app, stdout, stderr));
  putOutput(app, title, parts.join("").slice(0, MAX_OUTPUT_CHARS));
  if (argv[0] === "config" || argv[0] === "trust") await app.prefer();
}

export function putOutput(app: { model: Model }, title: string, text: string): void {
  const entry = { kind: "output", title, text: text.replace(/\n+$/, "") } as const;
  app.model = inserted(app.model, entry);
}

/** What is shown of asides, and of which session. */
interface Shown {
  readonly call: Call;
  readonly pid: number;
  readonly words: Phrases;
  model: Model;
  say(words: string, level: "error"): void;
}

export class Asides {
  readonly #app: Shown;
  #asking: AbortController | undefined;

  constructor(app: Shown) {
    this.#app = app;
  }

  /** True: there was one to end. */
  end(): boolean {
    this.#asking?.abort();
    return this.#asking !== undefined;
  }

  async ask(question: string): Promise<void> {
    const app = this.#app;
    const { act } = app.words;
    if (question === "") return app.say(act.asideNeeds, "error");
    if (app.pid === 0) return app.say(act.noSession, "error");
    if (this.#asking !== undefined) return app.say(act.asideRuns, "error");
    const asking = new AbortController();
    this.#asking = asking;
    const put = (change: Partial<AsideEntry>): void => {
      app.model = asideChanged(app.model, change);
    };
    app.model = asideAsked(app.model, question);
    const over = (why: string): Partial<AsideEntry> => ({
      problem: asking.signal.aborted ? app.words.entry.interrupted : why,
      isFinal: true,
    });
    try {
      const wish = { pid: app.pid, text: question, signal: asking.signal };
      const { text, problem } = await askAside(app.call.host, { ...wish, onText: (text) => put({ text }) });
      put({ text, ...over(problem) });
    } catch (error) {
      put(over(messageOf(error)));
    } finally {
      this.#asking = undefined;
    }
  }
}
