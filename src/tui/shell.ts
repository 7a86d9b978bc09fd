/** Lines that begin with `!`: the user's shell runs them, the transcript shows their output, and the model reads it. */
import { messageOf } from "../abi/errors.ts";
import type { Call } from "../cli/command.ts";
import { runShellLine } from "../cli/run/shell-line.ts";
import type { Phrases } from "../cli/screen/words/en.ts";
import { shellNote } from "../lib/text/shell-line.ts";
import type { Model, ShellEntry } from "./state/model.ts";
import { inserted, shellChanged } from "./state/reduce.ts";

/** What is shown of them, and where they run. */
interface Shown {
  readonly call: Call;
  readonly cwd: string;
  readonly words: Phrases;
  model: Model;
  say(words: string, level: "error"): void;
}

export class ShellLines {
  readonly #app: Shown;
  #running: AbortController | undefined;
  #count = 0;

  constructor(app: Shown) {
    this.#app = app;
  }

  /** True: there was one to end. */
  end(): boolean {
    const isRunning = this.#running !== undefined;
    this.#running?.abort();
    return isRunning;
  }

  /** Where there is no session yet, `tell` keeps the note until there is one. */
  async run(command: string, tell: (note: string) => Promise<void>): Promise<void> {
    const app = this.#app;
    if (this.#running !== undefined) return app.say(app.words.act.lineRuns, "error");
    const running = new AbortController();
    this.#running = running;
    const id = `shell-${++this.#count}`;
    const put = (change: Partial<ShellEntry>): void => {
      app.model = shellChanged(app.model, id, change);
    };
    app.model = inserted(app.model, { kind: "shell", id, command, output: "", isFinal: false });
    try {
      const { cwd, call } = app;
      const onOutput = (output: string): void => put({ output });
      const line = await runShellLine(call.host, command, { cwd, signal: running.signal, onOutput });
      this.#running = undefined;
      put({ ...line, isFinal: true });
      await tell(shellNote(line));
    } catch (error) {
      put({ exit: messageOf(error), isFinal: true });
    } finally {
      if (this.#running === running) this.#running = undefined;
    }
  }
}
