/** A question in words: one line, and a detail below it. Made from the tool's own view, else from the effects. */
import type { Effect } from "../../abi/effects.ts";
import type { Effectful } from "./guard.ts";

export interface Question {
  /** `bash: npm test` */
  readonly text: string;
  readonly detail: string;
}

const MAX_TEXT = 400;
const MAX_DETAIL = 4_000;

export function describe(tool: string, effectful: Effectful): Question {
  const view = effectful.view;
  const text = view === undefined ? effectful.effects.map(words).join(", ") : `${view.operation}`;
  const detail = [view?.diff ?? "", ...(view?.warnings ?? []).map((warning) => `! ${warning}`)].filter(
    (part) => part !== "",
  );
  return { text: cut(`${tool}: ${text}`, MAX_TEXT), detail: cut(detail.join("\n"), MAX_DETAIL) };
}

function words(effect: Effect): string {
  switch (effect.kind) {
    case "read":
    case "state":
      return `read ${effect.path}`;
    case "write":
      return `${effect.change} ${effect.path}`;
    case "exec":
      return effect.shell ?? effect.argv.join(" ");
    case "network":
      return `${effect.method} ${effect.host}:${effect.port}`;
    case "spawn":
      return `start ${effect.program}`;
    case "llm":
      return `ask ${effect.device}`;
    case "unknown":
      return effect.what;
  }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max / 2)} … ${text.slice(-max / 2)}`;
}
