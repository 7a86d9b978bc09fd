/**
 * Which reply a request gets. In a list, `when` entries are looked at first and in order, whichever conversation asks;
 * then plain entries, one request each, in order; then `default`. A helper answer never uses up a plain entry.
 */
import { Reply, text } from "./reply.ts";
import type { ModelRequest } from "./request.ts";

export type Answer = Reply | ((request: ModelRequest) => Reply | Promise<Reply>);

/** All stated conditions hold. A string matches as a part, except `model` and `tool`, which match whole. */
export interface Match {
  readonly lastUserText?: string | RegExp;
  readonly lastToolResult?: string | RegExp;
  readonly system?: string | RegExp;
  readonly model?: string | RegExp;
  /** A tool the request offers. */
  readonly tool?: string;
  readonly assistantTurns?: number;
}

export interface Rule {
  readonly when: Match | ((request: ModelRequest) => boolean);
  /** A list is used up one by one; a single answer is given `times` times, without limit if left out. */
  readonly reply: Answer | readonly Answer[];
  readonly times?: number;
}

export interface Fallback {
  readonly default: Answer;
}

export type Script = Answer | readonly (Answer | Rule | Fallback)[];

export type Choice =
  | { readonly kind: "answer"; readonly answer: Answer; readonly isHelper: boolean }
  | { readonly kind: "none"; readonly reason: string };

const helperText = "OK";

/** `true` is a short text of the server's own. */
export function helperReply(option: boolean | string | Reply | undefined): Reply | undefined {
  if (option === undefined || option === false) return undefined;
  if (option === true) return text(helperText);
  return typeof option === "string" ? text(option) : option;
}

export class ScriptRunner {
  readonly #rules: { readonly rule: Rule; used: number }[] = [];
  readonly #plain: Answer[] = [];
  readonly #fallback: Answer | undefined;
  readonly #helper: Reply | undefined;
  #nextPlain = 0;
  #turn = 0;

  constructor(script: Script, helper: Reply | undefined) {
    this.#helper = helper;
    if (isAnswer(script)) {
      this.#fallback = script;
      return;
    }
    for (const entry of script) {
      if (isAnswer(entry)) this.#plain.push(entry);
      else if ("default" in entry) this.#fallback = entry.default;
      else this.#rules.push({ rule: entry, used: 0 });
    }
  }

  /** Requests answered so far, helper answers aside. */
  get turn(): number {
    return this.#turn;
  }

  choose(request: ModelRequest): Choice {
    const scripted = this.#findRule(request);
    if (scripted !== undefined) return this.#take(scripted);
    const isHelper = this.#helper !== undefined && request.tools.length === 0;
    if (this.#helper !== undefined && (isHelper || this.#isRulesOnly())) {
      return { kind: "answer", answer: this.#helper, isHelper: true };
    }
    const plain = this.#plain[this.#nextPlain];
    if (plain !== undefined) {
      this.#nextPlain += 1;
      return this.#take(plain);
    }
    if (this.#fallback !== undefined) return this.#take(this.#fallback);
    return { kind: "none", reason: this.#exhausted(request) };
  }

  #take(answer: Answer): Choice {
    this.#turn += 1;
    return { kind: "answer", answer, isHelper: false };
  }

  #isRulesOnly(): boolean {
    return this.#rules.length > 0 && this.#plain.length === 0 && this.#fallback === undefined;
  }

  #findRule(request: ModelRequest): Answer | undefined {
    for (const state of this.#rules) {
      const { rule, used } = state;
      const answer = isAnswer(rule.reply) ? rule.reply : rule.reply[used];
      if (answer === undefined || used >= (rule.times ?? Number.POSITIVE_INFINITY)) continue;
      if (!matches(rule.when, request)) continue;
      state.used += 1;
      return answer;
    }
    return undefined;
  }

  #exhausted(request: ModelRequest): string {
    const had = `${this.#plain.length} replies and ${this.#rules.length} rules`;
    const asked = JSON.stringify(request.lastUserText.slice(0, 200));
    return `the script has no reply for request ${this.#turn + 1}: it had ${had}. Last user text: ${asked}`;
  }
}

function isAnswer(value: Script | Answer | Rule | Fallback | readonly Answer[]): value is Answer {
  return value instanceof Reply || typeof value === "function";
}

function matches(when: Rule["when"], request: ModelRequest): boolean {
  if (typeof when === "function") return when(request);
  const { lastUserText, lastToolResult, system, model, tool, assistantTurns } = when;
  return (
    (lastUserText === undefined || holds(lastUserText, request.lastUserText)) &&
    (lastToolResult === undefined ||
      request.lastToolResults.some(({ content }) => holds(lastToolResult, content))) &&
    (system === undefined || holds(system, request.system)) &&
    (model === undefined ||
      (typeof model === "string" ? model === request.model : holds(model, request.model))) &&
    (tool === undefined || request.tools.includes(tool)) &&
    (assistantTurns === undefined || assistantTurns === request.assistantTurns)
  );
}

function holds(pattern: string | RegExp, value: string): boolean {
  return typeof pattern === "string" ? value.includes(pattern) : value.search(pattern) >= 0;
}
