/**
 * A deliberately small and strict reader of bash text. It knows plain words, quotes without anything that bash
 * evaluates, and the joiners `|` `&&` `||` `;` newline. Of such text the argument vectors are certain; everything else is
 * uncertain, and whoever asks is told why. It never guesses.
 */

export type Joiner = "start" | "|" | "&&" | "||" | ";";

export interface SimpleCommand {
  readonly argv: readonly string[];
  /** What stands before it. */
  readonly joiner: Joiner;
}

export type Analysis =
  | { readonly certain: true; readonly commands: readonly SimpleCommand[] }
  | { readonly certain: false; readonly why: string };

const MAX_CHARS = 32_768;
const MAX_COMMANDS = 50;

const RESERVED = new Set(
  "if then else elif fi for while until do done case esac select in function coproc { } ! [[ ]]".split(" "),
);

const SAFE = /[A-Za-z0-9_\-./:,+@%=^]/;

export function analyse(text: string): Analysis {
  if (text.length > MAX_CHARS) return uncertain(`longer than ${MAX_CHARS} characters`);
  const hidden = /[^\P{Cc}\t\n]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u.exec(text);
  if (hidden !== null) return uncertain("a control or invisible character");
  const lexed = lex(text);
  return typeof lexed === "string" ? uncertain(lexed) : assemble(lexed);
}

function uncertain(why: string): Analysis {
  return { certain: false, why };
}

type Lexeme =
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "joiner"; readonly joiner: Joiner; readonly newline: boolean };

/** The lexemes, or what could not be read. */
function lex(text: string): Lexeme[] | string {
  const lexemes: Lexeme[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) lexemes.push({ kind: "word", text: word });
    word = undefined;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string;
    if (char === " " || char === "\t") endWord();
    else if (char === "'" || char === '"') {
      const end = text.indexOf(char, i + 1);
      if (end < 0) return "an open quote";
      const quoted = text.slice(i + 1, end);
      if (char === '"' && /[$`\\!]/.test(quoted)) return "an expansion inside quotes";
      word = (word ?? "") + quoted;
      i = end;
    } else if (SAFE.test(char) || isHarmlessHere(char, word)) word = (word ?? "") + char;
    else {
      const joiner = joinerAt(text, i);
      if (joiner === undefined) return `${JSON.stringify(char)} outside quotes`;
      endWord();
      lexemes.push({ kind: "joiner", joiner, newline: char === "\n" });
      i += joiner.length - 1;
    }
  }
  endWord();
  return lexemes;
}

/** `#` begins a comment and `~` a home only at the start of a word, `~` also after `=` and `:`. */
function isHarmlessHere(char: string, word: string | undefined): boolean {
  if (word === undefined || word === "") return false;
  return char === "#" || (char === "~" && !/[=:]$/.test(word));
}

function joinerAt(text: string, i: number): Joiner | undefined {
  const two = text.slice(i, i + 2);
  if (two === "&&" || two === "||") return two;
  if (two === "|&" || two === ";;" || two === ";&") return undefined;
  const one = text[i];
  if (one === "|") return "|";
  return one === ";" || one === "\n" ? ";" : undefined;
}

function assemble(lexemes: readonly Lexeme[]): Analysis {
  const commands: SimpleCommand[] = [];
  let argv: string[] = [];
  let joiner: Joiner = "start";
  for (const lexeme of lexemes) {
    if (lexeme.kind === "word") argv.push(lexeme.text);
    else if (argv.length > 0) {
      commands.push({ argv, joiner });
      argv = [];
      joiner = lexeme.joiner;
    } else if (!lexeme.newline) return uncertain("a joiner without a command before it");
  }
  if (argv.length > 0) commands.push({ argv, joiner });
  else if (joiner !== ";" && joiner !== "start") return uncertain(`nothing after ${joiner}`);
  if (commands.length === 0) return uncertain("no command");
  if (commands.length > MAX_COMMANDS) return uncertain(`more than ${MAX_COMMANDS} commands`);
  const odd = commands.map(({ argv: [name = ""] }) => oddName(name)).find((why) => why !== undefined);
  return odd === undefined ? { certain: true, commands } : uncertain(odd);
}

function oddName(name: string): string | undefined {
  if (RESERVED.has(name)) return `the shell word ${name}`;
  if (name.includes("=")) return "an assignment";
  return /^[\x21-\x7e]+$/.test(name) ? undefined : "an unusual command name";
}
