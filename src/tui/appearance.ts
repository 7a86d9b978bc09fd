/**
 * How everything looks: the colours, by the name of a theme or by the background of the terminal, and coloured code. Own themes
 * are files `themes/<name>.json` in the user's folder of settings.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../abi/errors.ts";
import { configDir, type Environment } from "../lib/paths.ts";
import { Highlighter } from "./text/highlight.ts";
import { depthOf, type Palette, parsePalette, THEMES, type Theme, themeOf } from "./text/theme.ts";

/** Asks for the colour of the background. */
const ASK_BACKGROUND = "\x1b]11;?\x07";
// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal answers
const ANSWER = /\x1b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})[^\x07\x1b]*(?:\x07|\x1b\\)/i;
/** The begin of an answer whose rest has not come yet. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const PART = /\x1b\]1(?:1(?:;[^\x07\x1b]{0,64}\x1b?)?)?$/;
const MAX_FILE_BYTES = 65_536;

export class Appearance {
  readonly highlighter: Highlighter;
  readonly #themes: string;
  readonly #env: Environment;
  readonly #isColourless: boolean;
  readonly #onChange: () => void;
  readonly #own = new Map<string, Palette>();
  #name = "auto";
  #isLight = false;
  #theme: Theme | undefined;
  #part = "";
  #isAsked = false;

  /** `isColourless`: the user wants no colours. */
  constructor(env: Environment, isColourless: boolean, onChange: () => void) {
    this.#env = env;
    this.#isColourless = isColourless;
    this.#onChange = onChange;
    this.#themes = join(configDir(env, env.HOME ?? ""), "themes");
    this.highlighter = new Highlighter(async () => (await import("./text/languages.ts")).markedUp, onChange);
  }

  get theme(): Theme {
    const name = this.#name === "auto" ? (this.#isLight ? "light" : "dark") : this.#name;
    const depth = depthOf(this.#env, this.#isColourless);
    this.#theme ??= themeOf(name, depth, Object.fromEntries(this.#own));
    return this.#theme;
  }

  /** What can be chosen: the shipped themes, then the user's own. */
  names(): readonly string[] {
    try {
      const files = readdirSync(this.#themes).filter((name) => /^[\w-]{1,64}\.json$/.test(name));
      return [...THEMES, ...files.map((name) => name.slice(0, -".json".length)).sort()];
    } catch {
      return THEMES;
    }
  }

  /** Returns what is wrong with it, a line each. An unknown theme changes nothing. */
  choose(name: string): { readonly isKnown: boolean; readonly problems: readonly string[] } {
    if (!this.names().includes(name)) return { isKnown: false, problems: [] };
    const problems = THEMES.includes(name) ? [] : this.#read(name);
    this.#name = name;
    this.#changed();
    return { isKnown: true, problems };
  }

  /** What to write to the terminal to learn its background; "": its colours are not ours to choose, or it was asked. */
  question(): string {
    const depth = depthOf(this.#env, this.#isColourless);
    const isUseful = !this.#isAsked && depth !== "none" && depth !== 16;
    this.#isAsked = true;
    return isUseful ? ASK_BACKGROUND : "";
  }

  /** The input without the terminal's answer. */
  withoutAnswer(chunk: Buffer): Buffer {
    const text = this.#part + chunk.toString("latin1");
    this.#part = "";
    const answer = ANSWER.exec(text);
    if (answer === null) {
      this.#part = PART.exec(text)?.[0] ?? "";
      return Buffer.from(text.slice(0, text.length - this.#part.length), "latin1");
    }
    const [red = 0, green = 0, blue = 0] = answer
      .slice(1, 4)
      .map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
    this.#isLight = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
    this.#changed();
    return Buffer.from(text.replace(answer[0], ""), "latin1");
  }

  #read(name: string): readonly string[] {
    const path = join(this.#themes, `${name}.json`);
    try {
      const bytes = readFileSync(path);
      if (bytes.length > MAX_FILE_BYTES) return [`${path}: larger than ${MAX_FILE_BYTES} bytes; ignored`];
      const { palette, problems } = parsePalette(JSON.parse(bytes.toString("utf8")));
      this.#own.set(name, palette);
      return problems.map((problem) => `${path}: ${problem}`);
    } catch (error) {
      return [`${path}: ${messageOf(error)}`];
    }
  }

  #changed(): void {
    this.#theme = undefined;
    this.#onChange();
  }
}
