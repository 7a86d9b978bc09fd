/**
 * The second reader. It knows nothing of commands: only quotes, words, and where an expansion, a substitution or a
 * here-document begins and ends. The walk over the grammar's tree must agree with it on each word and each opening, or
 * the text is uncertain: both readers are unlikely to make the same mistake.
 */
import { decodeAnsiC } from "./ansi-c.ts";
import { charsOf, type Piece, quotedText } from "./piece.ts";
import type { HereDocument, Scan, ScannedWord } from "./scanned.ts";
import { isInvisible } from "./text.ts";
import { Unread } from "./unread.ts";

/** Scans a text; a returned string says why it could not be read. */
export function scan(text: string): Scan | string {
  try {
    return new Scanner(text).read();
  } catch (error) {
    if (error instanceof Unread) return error.message;
    throw error;
  }
}

interface Pending {
  readonly at: number;
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
}

const MAX_DEPTH = 200;
const OPENS_COMMAND = new Set("if then elif else while until do ! { time".split(" "));
const META = /[ \t\n;&|<>()]/;
const ASSIGNED = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=$/;

class Scanner {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  readonly #words = new Map<number, ScannedWord>();
  readonly #opens = new Map<number, number>();
  readonly #redirects = new Set<number>();
  readonly #hereDocuments = new Map<number, HereDocument>();
  readonly #continuations: number[] = [];
  #pending: Pending[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  read(): Scan {
    this.#commands("", this.#text.length);
    if (this.#pending.length > 0) throw new Unread("a here-document without an end");
    return {
      words: this.#words,
      opens: this.#opens,
      redirects: this.#redirects,
      hereDocuments: this.#hereDocuments,
      continuations: this.#continuations,
    };
  }

  /** Reads commands up to the closing `)`, which is not consumed, or to the limit. */
  #commands(stop: ")" | "", limit: number): void {
    if (++this.#depth > MAX_DEPTH) throw new Unread("nested too deeply");
    let cases = 0;
    let isCommandNext = true;
    while (this.#at < limit) {
      const char = this.#text.charAt(this.#at);
      if (char === " " || char === "\t") this.#at++;
      else if (char === "\n") {
        this.#at++;
        this.#bodies(limit);
        isCommandNext = true;
      } else if (char === "\\" && this.#text[this.#at + 1] === "\n") this.#continue();
      else if (char === "#") this.#comment(limit);
      else if (char === ")") {
        if (cases === 0 && stop === ")") break;
        if (cases === 0) throw new Unread("a ) that closes nothing");
        this.#at++;
        isCommandNext = true;
      } else if (char === "(") {
        this.#parenthesis(limit);
        isCommandNext = true;
      } else if (/[;&|]/.test(char)) {
        this.#at++;
        if (char === "&" && this.#text[this.#at] === ">") this.#redirect(limit);
        else isCommandNext = true;
      } else if (char === "<" || char === ">") this.#redirect(limit);
      else {
        const word = this.#word(limit);
        if (isCommandNext && word === "case") cases++;
        if (isCommandNext && word === "esac") cases = Math.max(0, cases - 1);
        if (isCommandNext && word === "[[") this.#test(limit);
        isCommandNext = isCommandNext && OPENS_COMMAND.has(word);
      }
    }
    if (stop !== "" && this.#at >= limit) throw new Unread("an open parenthesis");
    this.#depth--;
  }

  #comment(limit: number): void {
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 || end > limit ? limit : end;
  }

  #continue(): void {
    this.#continuations.push(this.#at);
    this.#at += 2;
  }

  /** Reads a subshell or, after `((`, arithmetic. */
  #parenthesis(limit: number): void {
    if (this.#text[this.#at + 1] === "(") {
      this.#at += 2;
      this.#arithmetic(limit);
      return;
    }
    this.#at++;
    this.#commands(")", limit);
    this.#at++;
  }

  /** Reads from after `((` to past the closing `))`. */
  #arithmetic(limit: number): void {
    for (let open = 2; open > 0; ) {
      if (this.#at >= limit) throw new Unread("open arithmetic");
      const char = this.#text.charAt(this.#at);
      if (char === "(") open++;
      if (char === ")") {
        open--;
        if (open === 1 && this.#text[this.#at + 1] !== ")")
          throw new Unread("a subshell that looks like arithmetic");
      }
      if (char === "(" || char === ")") this.#at++;
      else this.#piece(limit, null);
    }
  }

  /** Reads from after `[[` up to the closing `]]`: words with operators of their own between them. */
  #test(limit: number): void {
    for (;;) {
      if (this.#at >= limit) throw new Unread("an open [[");
      if (/^\s\]\](?=[\s;&|)]|$)/.test(this.#text.slice(this.#at, this.#at + 4))) break;
      this.#piece(limit, null);
    }
    this.#at += 3;
  }

  #redirect(limit: number): void {
    const at = this.#at;
    const rest = this.#text.slice(at, at + 4);
    if (/^[<>]\(/.test(rest)) {
      this.#word(limit);
      return;
    }
    const operator = /^(?:<<<|<<-?|<&-?|<>|<|>>|>&-?|>\||>)/.exec(rest)?.[0] ?? "";
    this.#at += operator.length;
    this.#redirects.add(at);
    if (operator !== "<<" && operator !== "<<-") return;
    while (/[ \t]/.test(this.#text.charAt(this.#at))) this.#at++;
    const start = this.#at;
    const raw = this.#rawDelimiter(limit);
    const isQuoted = /['"\\]/.test(raw);
    const delimiter = raw.replace(/['"\\]/g, "");
    if (raw === "" || /[$`\n]/.test(raw)) throw new Unread("an odd end of a here-document");
    this.#words.set(start, { end: this.#at, pieces: charsOf(delimiter, true) });
    this.#pending.push({ at, delimiter, isQuoted, stripsTabs: operator === "<<-" });
  }

  #rawDelimiter(limit: number): string {
    const found = /^(?:'[^'\n]*'|"[^"\n$`\\]*"|\\[^\n]|[^\s;&|<>()'"\\])*/.exec(
      this.#text.slice(this.#at, limit),
    );
    this.#at += found?.[0].length ?? 0;
    return found?.[0] ?? "";
  }

  /** After a newline, reads the bodies of the here-documents that began on that line. */
  #bodies(limit: number): void {
    const pending = this.#pending;
    this.#pending = [];
    for (const { at, delimiter, isQuoted, stripsTabs } of pending) {
      const start = this.#at;
      for (;;) {
        if (this.#at >= limit) throw new Unread("a here-document without an end");
        const lineEnd = Math.min(indexOrEnd(this.#text, "\n", this.#at), limit);
        const line = this.#text.slice(this.#at, lineEnd);
        if ((stripsTabs ? line.replace(/^\t+/, "") : line) === delimiter) {
          this.#hereDocuments.set(at, { start, end: this.#at, isQuoted, stripsTabs });
          if (!isQuoted) this.#expansions(start, this.#at);
          this.#at = Math.min(lineEnd + 1, limit);
          break;
        }
        this.#at = lineEnd + 1;
      }
    }
  }

  /** Reads the expansions in text that is otherwise data. */
  #expansions(start: number, end: number): void {
    const after = this.#at;
    this.#at = start;
    while (this.#at < end) {
      const char = this.#text.charAt(this.#at);
      if (char === "\\") {
        if (this.#text[this.#at + 1] === "\n") throw new Unread("a joined line in a here-document");
        this.#at += 2;
      } else if (char === "$" || char === "`") this.#expansion(end, true, null);
      else this.#at++;
    }
    if (this.#at > end) throw new Unread("an expansion over the end of a here-document");
    this.#at = after;
  }

  /** Reads a word; returns it if it is plain unquoted text, otherwise "". */
  #word(limit: number): string {
    const start = this.#at;
    const pieces: Piece[] = [];
    while (this.#at < limit) {
      const char = this.#text.charAt(this.#at);
      if (/[<>]/.test(char) && this.#text[this.#at + 1] === "(") {
        const at = this.#at;
        this.#substitution(at, at + 2, limit);
        pieces.push({ kind: "unknown", isQuoted: true, at });
      } else if (char === "(" && ASSIGNED.test(this.#text.slice(start, this.#at))) {
        this.#at++;
        this.#commands(")", limit);
        this.#at++;
        pieces.push({ kind: "unknown", isQuoted: true });
      } else if (META.test(char)) break;
      else this.#piece(limit, pieces);
    }
    if (this.#at === start) throw new Unread("a character where a word should begin");
    const source = this.#text.slice(start, this.#at);
    const next = this.#at < limit ? this.#text.charAt(this.#at) : "";
    if (next === "(" && /[?*+@!]$/.test(source)) throw new Unread("an extended pattern");
    if (/[<>]/.test(next) && /^\{.*\}$/.test(source)) throw new Unread("a descriptor in a variable");
    // a number directly before a redirection is its descriptor
    if (!(/[<>]/.test(next) && /^\d+$/.test(source))) this.#words.set(start, { end: this.#at, pieces });
    return /['"\\$`]/.test(source) ? "" : source;
  }

  /** Reads one quoted run, expansion or plain character. `into` null: only openings are recorded. */
  #piece(limit: number, into: Piece[] | null): void {
    const char = this.#text.charAt(this.#at);
    if (char === "\\") {
      const next = this.#text[this.#at + 1];
      if (next === "\n") {
        this.#continue();
        return;
      }
      if (next === undefined || this.#at + 1 >= limit) throw new Unread("a backslash at the end");
      into?.push(...charsOf(next, true));
      this.#at += 2;
    } else if (char === "'") {
      const end = this.#text.indexOf("'", this.#at + 1);
      if (end < 0 || end >= limit) throw new Unread("an open quote");
      into?.push(...quotedText(this.#text.slice(this.#at + 1, end)));
      this.#at = end + 1;
    } else if (char === '"') this.#quoted(limit, into);
    else if (char === "$" || char === "`") this.#expansion(limit, false, into);
    else {
      const whole = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
      if (isInvisible(whole)) throw new Unread("an invisible character outside quotes");
      into?.push(...charsOf(whole, false));
      this.#at += whole.length;
    }
  }

  #quoted(limit: number, into: Piece[] | null): void {
    this.#at++;
    // "" is a word of its own
    into?.push({ kind: "char", char: "", isQuoted: true });
    for (;;) {
      if (this.#at >= limit) throw new Unread("an open quote");
      const char = this.#text.charAt(this.#at);
      if (char === '"') break;
      if (char === "\\") {
        const next = this.#text.charAt(this.#at + 1);
        if (next === "\n") this.#continue();
        else {
          into?.push(...charsOf(/[$`"\\]/.test(next) ? next : `\\${next}`, true));
          this.#at += 2;
        }
      } else if (char === "$" || char === "`") this.#expansion(limit, true, into);
      else {
        into?.push(...charsOf(char, true));
        this.#at++;
      }
    }
    this.#at++;
  }

  /** Reads an expansion at a `$` or a backtick. */
  #expansion(limit: number, isQuoted: boolean, into: Piece[] | null): void {
    const start = this.#at;
    const rest = this.#text.slice(start, Math.min(start + 3, limit));
    if (rest.startsWith("`")) this.#backtick(limit);
    else if (rest.startsWith("$((")) {
      this.#at += 3;
      this.#opens.set(start, 0);
      this.#arithmetic(limit);
      this.#opens.set(start, this.#at);
    } else if (rest.startsWith("$(")) this.#substitution(start, start + 2, limit);
    else if (rest.startsWith("${")) {
      const isAll = /^\$\{[!#]?[A-Za-z_]*\[?@|^\$\{@/.test(this.#text.slice(start, start + 64));
      this.#parameter(limit, isQuoted);
      const name = /^\$\{([A-Za-z_]\w*)\}$/.exec(this.#text.slice(start, this.#at))?.[1];
      into?.push({
        kind: "unknown",
        isQuoted,
        ...(name === undefined ? {} : { name }),
        ...(isAll ? { isList: true } : {}),
      });
      return;
    } else if (rest.startsWith("$[")) throw new Unread("arithmetic in $[ ]");
    else if (rest.startsWith('$"') && !isQuoted) throw new Unread("a translated string");
    else {
      if (rest.startsWith("$'") && !isQuoted) this.#ansiC(limit, into);
      else this.#variable(limit, isQuoted, into);
      return;
    }
    into?.push({ kind: "unknown", isQuoted, at: start });
  }

  #variable(limit: number, isQuoted: boolean, into: Piece[] | null): void {
    const found = /^\$([A-Za-z_]\w*|[0-9@*#?$!-])/.exec(
      this.#text.slice(this.#at, Math.min(limit, this.#at + 256)),
    );
    if (found?.[1] === undefined) {
      into?.push(...charsOf("$", true));
      this.#at++;
      return;
    }
    this.#at += found[0].length;
    const isList = found[1] === "@";
    const name = /^[A-Za-z_]/.test(found[1]) ? { name: found[1] } : {};
    into?.push({ kind: "unknown", isQuoted, ...name, ...(isList ? { isList } : {}) });
  }

  #ansiC(limit: number, into: Piece[] | null): void {
    const found = /^\$'((?:\\[\s\S]|[^'\\])*)'/.exec(this.#text.slice(this.#at, limit));
    if (found?.[1] === undefined) throw new Unread("an open quote");
    const text = decodeAnsiC(found[1]);
    into?.push(...(text === null ? [{ kind: "unknown", isQuoted: true } as const] : quotedText(text)));
    this.#at += found[0].length;
  }

  /** Reads a substitution to past its `)`. */
  #substitution(start: number, inner: number, limit: number): void {
    this.#opens.set(start, 0);
    this.#at = inner;
    const outer = this.#pending;
    this.#pending = [];
    this.#commands(")", limit);
    if (this.#pending.length > 0) throw new Unread("a here-document without an end");
    this.#pending = outer;
    this.#at++;
    this.#opens.set(start, this.#at);
  }

  /**
   * Reads a backtick substitution. Backslashes in it mean different things to the outer and the inner text: such text
   * is not read.
   */
  #backtick(limit: number): void {
    const start = this.#at;
    const end = this.#text.indexOf("`", start + 1);
    if (end < 0 || end >= limit) throw new Unread("an open backtick");
    if (this.#text.slice(start, end).includes("\\")) throw new Unread("a backslash inside backticks");
    this.#opens.set(start, end + 1);
    this.#at = start + 1;
    const outer = this.#pending;
    this.#pending = [];
    this.#commands("", end);
    if (this.#pending.length > 0) throw new Unread("a here-document without an end");
    this.#pending = outer;
    this.#at = end + 1;
  }

  /** Reads `${…}` to past its brace. */
  #parameter(limit: number, isQuoted: boolean): void {
    const start = this.#at;
    if (++this.#depth > MAX_DEPTH) throw new Unread("nested too deeply");
    this.#opens.set(start, 0);
    this.#at += 2;
    for (;;) {
      if (this.#at >= limit) throw new Unread("an open ${");
      const char = this.#text.charAt(this.#at);
      if (char === "}") break;
      if (isQuoted && char === "'") throw new Unread("a quote inside ${ } inside quotes");
      this.#piece(limit, null);
    }
    this.#at++;
    this.#depth--;
    this.#opens.set(start, this.#at);
  }
}

function indexOrEnd(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? text.length : at;
}
