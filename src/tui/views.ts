/** The views of the whole screen, and what follows from a choice in them. */
import type { Params } from "../abi/methods/methods.ts";
import type { WireRow } from "../abi/methods/process.ts";
import { sessionOf } from "../cli/chat/ref.ts";
import { invalid } from "../cli/screen/errors.ts";
import { rewindLines } from "../cli/screen/rewind-lines.ts";
import { intentCell } from "../cli/screen/table/process-cells.ts";
import type { App } from "./app.ts";
import { copyText } from "./clipboard.ts";
import { putOutput } from "./commands.ts";
import { replaced } from "./editor/edit.ts";
import { Onlooker } from "./onlooker.ts";
import { Picker } from "./screens/picker.ts";
import { extentWish, type RewindWish, rewindWish, stepAt } from "./screens/rewind-picker.ts";
import { sessionWish } from "./screens/session-picker.ts";
import { TopScreen } from "./screens/top-screen.ts";
import { TranscriptView, type TranscriptWish } from "./screens/transcript-view.ts";
import type { ViewName } from "./slash.ts";
import type { MessagePlace } from "./view/pages.ts";

/** The most steps that are listed, and that a place is looked for in. */
const STEPS = 1_000;
const MOST_STEPS = 10_000;
/** Of what an agent is to do, in the last line of its view. */
const TITLE_COLUMNS = 24;

export class Views {
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  async open(name: ViewName, text: string): Promise<void> {
    if (name === "top") return this.#top();
    if (name === "resume") return this.#resume(text);
    return name === "rewind" ? this.rewind() : this.transcript(text === "↑");
  }

  /** `isScroll`: scrolled up by a page, and left at the end. */
  transcript(isScroll = false): void {
    const app = this.#app;
    this.#read({ pid: app.pid, heard: () => app.model, title: "", isScroll });
  }

  /** What another process has said, and says. */
  look(pid: number, task: string, wish: Pick<TranscriptWish, "key" | "hint" | "closed"> = {}): void {
    const app = this.#app;
    const { words, client, call } = app;
    const title = `[${pid}] ${intentCell(task, TITLE_COLUMNS)} · `;
    const onlooker = new Onlooker(pid, {
      ...{ words, client: client.name, daemon: call.host.daemon, nowMono: () => app.nowMono },
      begun: () => view.refresh(),
      changed: () => app.changed(),
    });
    const closed = (): void => {
      onlooker[Symbol.dispose]();
      wish.closed?.();
    };
    const view = this.#read({ ...wish, pid, heard: () => onlooker.model, task, title, closed });
  }

  /** The processes, live. One that is chosen there is opened. */
  #top(): void {
    const app = this.#app;
    const { daemon, env } = app.call.host;
    const chosen = (row: WireRow) => this.#chosen(row);
    app.overlay.open(new TopScreen({ daemon, env, chosen, changed: () => app.changed() }));
  }

  /** Why it cannot be opened, if so. */
  #chosen({ pid, kind, session, intent }: WireRow): string {
    const app = this.#app;
    if (pid === app.pid) app.overlay.close();
    else if (session === true) app.do(() => app.switchTo(pid));
    else if (kind !== "agent") return app.words.act.nothingSaid(pid);
    else this.look(pid, intent);
    return "";
  }

  #read(of: Omit<TranscriptWish, "client" | "changed" | "copy" | "go">): TranscriptView {
    const app = this.#app;
    const view = new TranscriptView({
      ...of,
      client: app.client.aside,
      changed: () => app.changed(),
      copy: (text) => copyText(app, text),
      go: (what, place) => app.do(() => this.#go(what, of.pid, place)),
    });
    app.overlay.open(view);
    return view;
  }

  /** A fork goes on after the message; a rewind takes it back, and what came after it. */
  async #go(what: "fork" | "rewind", pid: number, place: MessagePlace): Promise<void> {
    const app = this.#app;
    const { steps } = await app.client.aside.request("process.steps", { pid, last: MOST_STEPS });
    const step = stepAt(steps, place, what);
    if (step === undefined) throw invalid(app.words.act.noStepThere);
    if (what === "rewind") return app.overlay.open(new Picker(extentWish(step, this.#rewindWish())));
    const { pid: fork } = await app.client.request("process.fork", { pid, at: { step } });
    await app.switchTo(fork);
  }

  /** Words of a title, a pid or a uuid; "": from a list. */
  async #resume(ref: string): Promise<void> {
    const app = this.#app;
    const pid = ref === "" ? await this.pickSession() : await sessionOf(app.call, ref);
    if (pid === app.pid && pid !== 0) app.say(app.words.act.sameSession);
    else if (pid !== undefined) await app.switchTo(pid);
  }

  /** undefined: the user chose none. */
  async pickSession(): Promise<number | undefined> {
    const app = this.#app;
    const { sessions } = await app.client.request("session.list", {});
    if (sessions.length === 0) throw invalid(app.words.act.noSession, app.words.act.beginOne);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    const wish = sessionWish({
      words: app.words,
      sessions,
      cwd: app.cwd,
      now: Date.now(),
      client: app.client.aside,
      chosen: ({ pid }) => resolve(pid),
      changed: () => app.changed(),
    });
    app.overlay.open(new Picker(wish, () => resolve(undefined)));
    return promise;
  }

  async rewind(): Promise<void> {
    const app = this.#app;
    if (app.pid === 0) return;
    const { steps } = await app.client.aside.request("process.steps", { pid: app.pid, last: STEPS });
    app.overlay.open(new Picker(rewindWish(steps, this.#rewindWish())));
  }

  #rewindWish(): RewindWish {
    const app = this.#app;
    return {
      words: app.words,
      pid: app.pid,
      cwd: app.cwd,
      now: Date.now(),
      client: app.client.aside,
      open: (next) => app.overlay.open(new Picker(next)),
      decided: (request, again) => app.do(() => this.#goBack(request, again)),
      changed: () => app.changed(),
    };
  }

  /** `again`: stands in the editor of the session that begins there. */
  async #goBack(request: Params<"process.rewind">, again = ""): Promise<void> {
    const app = this.#app;
    const done = await app.client.request("process.rewind", request);
    if (done.refused) {
      const files = done.conflicts.join(", ");
      throw invalid(app.words.act.changedSince(files), `/rewind --at ${done.step ?? ""} --files --force`);
    }
    const lines = rewindLines(done, app.cwd, app.words.rewind);
    if (lines.length > 0) putOutput(app, "/rewind", lines.join("\n"));
    if (done.fork === null) return;
    // of a longer one only the begin is known
    if (again !== "" && !again.endsWith("…")) app.keep.keepDraft(done.fork.pid, replaced(app.editing, again));
    await app.switchTo(done.fork.pid);
  }
}
