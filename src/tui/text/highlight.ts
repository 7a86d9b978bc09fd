/** Colours code by its tokens, in the roles of the theme. Its languages are loaded when there is code to colour. */
import type { Line, Span } from "./line.ts";
import type { Paint, Theme } from "./theme.ts";

type MarkUp = (code: string, language: string) => string | undefined;

/** Longer code is shown plain. */
const MAX_CHARS = 100_000;
/** Texts whose tokens are kept, in the order of their last use. */
const MAX_KEPT = 50;

/** By the first word of a token's class. What is not here is shown as text. */
const ROLES: Readonly<Record<string, Paint>> = {
  keyword: "accent",
  "selector-tag": "accent",
  name: "accent",
  section: "accent",
  doctag: "accent",
  string: "success",
  regexp: "success",
  char: "success",
  number: "warning",
  literal: "warning",
  symbol: "warning",
  bullet: "warning",
  comment: "dim",
  quote: "dim",
  meta: "dim",
  title: "info",
  type: "info",
  built_in: "info",
  attr: "info",
  attribute: "info",
  property: "info",
  "selector-class": "info",
  "selector-id": "info",
  addition: "diffAdd",
  deletion: "diffRemove",
};
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" },
};

type Token = readonly [text: string, role: Paint | undefined];

export class Highlighter {
  readonly #load: () => Promise<MarkUp>;
  readonly #onLoaded: () => void;
  #markUp: MarkUp | "loading" | "none" | undefined;
  readonly #kept = new Map<string, readonly (readonly Token[])[]>();

  /** `onLoaded`: what was shown plain can be coloured now. */
  constructor(load: () => Promise<MarkUp>, onLoaded: () => void) {
    this.#load = load;
    this.#onLoaded = onLoaded;
  }

  /** What has code in it may not be shown for good yet. */
  get isLoading(): boolean {
    return this.#markUp === "loading";
  }

  /** undefined: show it plain, because the language is not known, or until the languages are there. */
  lines(code: string, language: string, theme: Theme): readonly Line[] | undefined {
    if (language === "" || code.length > MAX_CHARS) return undefined;
    this.#markUp ??= this.#begin();
    if (typeof this.#markUp === "string") return undefined;
    const key = `${language}\n${code}`;
    const tokens = this.#kept.get(key) ?? tokensOf(this.#markUp(code, language));
    if (tokens === undefined) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, tokens);
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value ?? "");
    return tokens.map((line) =>
      line.map(([text, role]): Span => ({ text, style: role === undefined ? "" : theme[role] })),
    );
  }

  #begin(): "loading" {
    const done = (markUp: MarkUp | "none"): void => {
      this.#markUp = markUp;
      this.#onLoaded();
    };
    // an installation without them costs the colours alone
    void this.#load().then(done, () => done("none"));
    return "loading";
  }
}

/** Lines of tokens, from text in which nothing but spans of a class and five entities is marked up. */
function tokensOf(html: string | undefined): readonly (readonly Token[])[] | undefined {
  if (html === undefined) return undefined;
  const lines: Token[][] = [[]];
  const roles: (Paint | undefined)[] = [];
  for (const part of html.split(/(<span class="[^"]*">|<\/span>)/)) {
    if (part === "</span>") roles.pop();
    else if (part.startsWith('<span class="')) roles.push(roleOf(part) ?? roles.at(-1));
    else
      for (const [at, text] of part
        .replace(/&(?:amp|lt|gt|quot|#x27);/g, (one) => ENTITIES[one] ?? one)
        .split("\n")
        .entries()) {
        if (at > 0) lines.push([]);
        if (text !== "") lines.at(-1)?.push([text, roles.at(-1)]);
      }
  }
  return lines;
}

function roleOf(span: string): Paint | undefined {
  return ROLES[/hljs-([\w-]+)/.exec(span)?.[1] ?? ""];
}
