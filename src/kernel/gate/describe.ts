/**
 * The text of a question: one line, and details below it. Made from the tool's own view, otherwise from the effects.
 */

import type { Effect } from "../../abi/effects.ts";
import { english } from "../../abi/sentence.ts";
import type { Decision } from "../ports/permit.ts";
import type { Effectful } from "./effectful.ts";

export type AskDecision = Extract<Decision, { behavior: "ask" }>;

export interface Question {
  /** `bash: npm test` */
  readonly text: string;
  readonly detail: string;
}

const MAX_TEXT = 400;
/** Fits the longest command or a page of a diff, with further details. A screen shows less of it at first. */
const MAX_DETAIL = 64 * 1024;

/** The reason for asking is included only if it is not simply the mode. */
export function describe(tool: string, effectful: Effectful, decision?: AskDecision): Question {
  const { view, effects } = effectful;
  const what = view === undefined ? effects.map(effectWords).join(", ") : view.operation;
  const text = what.startsWith(`${tool} `) ? what : `${tool}: ${what}`;
  const isTold =
    decision !== undefined && decision.reason.kind !== "mode" && decision.reason.kind !== "default";
  const warnings = [...(view?.warnings ?? []).map(english), ...(isTold ? [decision.message] : [])];
  const diff = view?.diff ?? "";
  const shown = diff === "" ? untold(text, view?.params ?? {}) : [diff];
  const detail = [...shown, ...warnings.map((warning) => `! ${warning}`)];
  return { text: cut(text, MAX_TEXT), detail: cut(detail.join("\n"), MAX_DETAIL) };
}

/**
 * Parameters that the one line does not show in full, so that the user never allows anything unseen. A part of the line shows one
 * parameter only: a folder that stands in the command as well is still shown as the folder.
 */
function untold(text: string, params: Readonly<Record<string, unknown>>): string[] {
  const words = Object.entries(params).flatMap(([name, value]) =>
    typeof value === "string" && value !== "" ? [{ name, value }] : [],
  );
  const shown = new Set<string>();
  let rest = text;
  for (const { name, value } of words.toSorted((a, b) => b.value.length - a.value.length)) {
    const at = rest.indexOf(value);
    if (at < 0) continue;
    shown.add(name);
    rest = `${rest.slice(0, at)}\0${rest.slice(at + value.length)}`;
  }
  return words.flatMap(({ name, value }) => {
    if (shown.has(name)) return [];
    return [value.includes("\n") ? `${name}:\n${value}` : `${name}: ${value}`];
  });
}

export function effectWords(effect: Effect): string {
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
    case "message":
      return effect.signal === undefined ? `send to ${effect.to}` : `send ${effect.signal} to ${effect.to}`;
    case "mode":
      return `enter ${effect.to} mode`;
    case "person":
      return effect.question;
    case "llm":
      return `ask ${effect.device}`;
    case "mcp":
      if (effect.tool !== "") return `${effect.server}: ${effect.tool}`;
      return `read ${effect.uri === undefined ? "" : `${effect.uri} `}from ${effect.server}`;
    case "unknown":
      return effect.what;
  }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max / 2)} … ${text.slice(-max / 2)}`;
}
