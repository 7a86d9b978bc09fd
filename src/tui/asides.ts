/** `/btw`: a question beside the conversation. Its answer stands in the transcript of this terminal, and nowhere else. */
import { messageOf } from "../abi/errors.ts";
import { askAside } from "../cli/chat/aside.ts";
import type { Call } from "../cli/command.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import type { AsideEntry, Model } from "./state/model.ts";
import { asideAsked, asideChanged } from "./state/reduce.ts";

/** What is shown of them, and of which session. */
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
