/**
 * Suggests deferred tools that fit the conversation before the model searches for them, each once. Uses only known
 * entries, so it needs no system call; derived from the conversation, so a replay makes the same suggestions.
 */
import type { DeferredTools } from "./deferred-tools.ts";
import { queryOf } from "./terms.ts";

/** Higher than for a search: a wrong suggestion costs more than a missing one. */
const MIN_SCORE = 0.45;
const MAX_HITS = 3;
const MIN_TERMS = 2;
const MAX_TOLD = 500;
const KEPT_TOLD = 400;
const OPEN = "<tool_discovery>";

export class Discovery {
  readonly #told = new Set<string>();

  get told(): ReadonlySet<string> {
    return this.#told;
  }

  /** The note that suggests tools for `text`; "" if no new tool fits. */
  note(tools: DeferredTools, text: string): string {
    const terms = queryOf(text);
    if (terms.length < MIN_TERMS) return "";
    const { entries, index } = tools.known();
    if (entries.length === 0) return "";
    const weights = { ...tools.setting.weights, minScore: MIN_SCORE };
    const hits = index
      .rank(terms, weights)
      .filter(({ entry }) => !this.#told.has(entry.name))
      .slice(0, MAX_HITS);
    if (hits.length === 0) return "";
    for (const { entry } of hits) this.#add(entry.name);
    const lines = hits.map(({ entry: { name, description } }) => `${name}: ${firstSentence(description)}`);
    return `${OPEN}\nThese tools may help; look at one with tool_search select:<name>, call it with tool_call.\n${lines.join("\n")}\n</tool_discovery>`;
  }

  /** Restores the suggestions of an earlier daemon from the notes in the context. */
  recall(messages: readonly { readonly role: string; readonly content: string }[]): void {
    for (const { role, content } of messages) {
      if (role !== "user" || !content.startsWith(OPEN)) continue;
      for (const [, name = ""] of content.matchAll(/^([A-Za-z0-9_-]+): /gm)) this.#add(name);
    }
  }

  #add(name: string): void {
    this.#told.add(name);
    if (this.#told.size <= MAX_TOLD) return;
    for (const oldest of [...this.#told].slice(0, this.#told.size - KEPT_TOLD)) this.#told.delete(oldest);
  }
}

const MAX_SENTENCE = 160;

function firstSentence(text: string): string {
  const [first = ""] = text.split(/(?<=[.!?])\s|\n/, 1);
  return first.length <= MAX_SENTENCE ? first : `${first.slice(0, MAX_SENTENCE).toWellFormed()}…`;
}
