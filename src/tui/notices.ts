/**
 * Calls the user who looks elsewhere: when a question waits, and when the session has answered. Only while the terminal has not
 * the focus, or nobody has typed for a minute. The words are our own; nothing of a model or a tool is in them.
 */
import type { WireEvent } from "../abi/wire-events.ts";
import { en, type Phrases } from "../cli/screen/words/en.ts";
import type { Environment } from "../lib/paths.ts";
import type { Press } from "./editor/keys.ts";

/** Nobody has typed for so long: the user is away, in ms. */
const AWAY_MS = 60_000;
/** One notice of a kind in this time, in ms. */
const QUIET_MS = 10_000;

type Kind = "permission_prompt" | "idle_prompt";
type NoticeWords = Pick<Phrases["session"], "questionWaits" | "answered" | "withMore">;

export class Notices implements Disposable {
  readonly #send: (text: string) => void;
  readonly #nowMono: () => number;
  readonly #env: Environment;
  #hasFocus = true;
  #typedMono: number;
  /** By kind: how many were held back since the last one, and the timer that tells of them. */
  readonly #held = new Map<Kind, { count: number; readonly timer: NodeJS.Timeout }>();
  isOn = true;
  words: NoticeWords = en.session;
  /** Shows words on the desktop; false: it could not. Absent: the terminal shows them. */
  toDesktop: ((words: string) => Promise<boolean>) | undefined;

  constructor(send: (text: string) => void, nowMono: () => number, env: Environment) {
    this.#send = send;
    this.#nowMono = nowMono;
    this.#env = env;
    this.#typedMono = nowMono();
  }

  /** True: it was a report of the terminal, and no key. */
  saw(press: Press): boolean {
    const name = press.kind === "key" ? press.name : "";
    const isReport = name === "focus-in" || name === "focus-out";
    if (isReport) this.#hasFocus = name === "focus-in";
    else this.#typedMono = this.#nowMono();
    return isReport;
  }

  event({ event }: WireEvent): void {
    if (event === "ask") this.#notify("permission_prompt");
    if (event === "idle") this.#notify("idle_prompt");
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #notify(kind: Kind): void {
    const isSeen = this.#hasFocus && this.#nowMono() - this.#typedMono < AWAY_MS;
    if (!this.isOn || isSeen) return;
    const held = this.#held.get(kind);
    if (held !== undefined) {
      held.count++;
      return;
    }
    const timer = setTimeout(() => this.#tellRest(kind), QUIET_MS);
    this.#held.set(kind, { count: 0, timer });
    this.#tell(this.#wordsFor(kind));
  }

  #wordsFor(kind: Kind): string {
    return kind === "idle_prompt" ? this.words.answered : this.words.questionWaits;
  }

  #tellRest(kind: Kind): void {
    const count = this.#held.get(kind)?.count ?? 0;
    this.#held.delete(kind);
    if (count > 0) this.#tell(this.words.withMore(this.#wordsFor(kind), count));
  }

  #tell(words: string): void {
    const toTerminal = (): void => this.#send(bytesOf(words, this.#env));
    if (this.toDesktop === undefined) toTerminal();
    else
      this.toDesktop(words).then(
        (isShown) => isShown || toTerminal(),
        () => toTerminal(),
      );
  }
}

/** As the terminal shows notices, or its bell. What stands between it and us may keep a notice to itself, but passes the bell on. */
function bytesOf(words: string, env: Environment): string {
  const { TERM = "", TERM_PROGRAM = "", TMUX = "", STY = "" } = env;
  if (TMUX !== "" || STY !== "") return "\x07";
  if (/kitty/.test(TERM)) return `\x1b]99;;Crux: ${words}\x1b\\`;
  return /^(?:iTerm\.app|WezTerm|ghostty)$/.test(TERM_PROGRAM) ? `\x1b]9;Crux: ${words}\x07` : "\x07";
}
