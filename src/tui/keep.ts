/** What the terminal keeps on disk for the user alone: earlier messages by folder, and the unsent text by session. */
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Environment, stateDir } from "../lib/paths.ts";
import { sentText } from "./editor/buffer.ts";
import { type Editing, MAX_HISTORY } from "./editor/edit.ts";

const PRIVATE = { mode: 0o600 };
/** What looks like a key is not written down. */
const SECRET =
  /\b(?:sk|rk|pk|gh[pousr]|glpat|xox[abprs]|AKIA|AIza|eyJ)[-_A-Za-z0-9]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY/;
/** The picture itself is not kept, and another one may come to have its number. */
const PICTURE = /\[Image #\d{1,6}\]/g;
const DRAFT_MS = 300;
const MAX_DRAFT_CHARS = 1_000_000;

export class Keep {
  readonly #dir: string;
  readonly #prompts: string;
  #drafting: NodeJS.Timeout | undefined;

  constructor(env: Environment, cwd: string) {
    this.#dir = join(stateDir(env, env.HOME ?? ""), "terminal");
    const folder = createHash("sha256").update(cwd).digest("hex").slice(0, 16);
    this.#prompts = join(this.#dir, `prompts-${folder}.ndjson`);
  }

  /** Newest first. */
  prompts(): readonly string[] {
    const lines = readOr(this.#prompts)
      .split("\n")
      .filter((line) => line !== "");
    if (lines.length > MAX_HISTORY * 2) write(this.#prompts, `${lines.slice(-MAX_HISTORY).join("\n")}\n`);
    return lines.slice(-MAX_HISTORY).reverse().flatMap(parsed);
  }

  remember(text: string): void {
    if (text.trim() === "" || SECRET.test(text)) return;
    attempt(this.#prompts, (path) =>
      appendFileSync(path, `${JSON.stringify(text.replace(PICTURE, "[Image]"))}\n`, PRIVATE),
    );
  }

  /** The folder of the session for files that nobody keeps, which it reads unasked; undefined: not here. */
  scratchOf(uuid: string | undefined): string | undefined {
    const path = join(dirname(this.#dir), "scratch", uuid ?? "");
    return uuid !== undefined && existsSync(path) ? path : undefined;
  }

  draft(pid: number): string {
    return readOr(this.#draftFile(pid));
  }

  /** Calls `keep` soon, once for all that is typed until then. */
  draftLater(keep: () => void): void {
    this.#drafting ??= setTimeout(keep, DRAFT_MS);
  }

  /** Without a session there is nothing to keep it for. */
  keepDraft(pid: number | undefined, { buffer }: Pick<Editing, "buffer">): void {
    clearTimeout(this.#drafting);
    this.#drafting = undefined;
    if (pid === undefined) return;
    const path = this.#draftFile(pid);
    const text = sentText(buffer).replace(PICTURE, "[Image]");
    if (text === "") rmSync(path, { force: true });
    else write(path, text.slice(0, MAX_DRAFT_CHARS));
  }

  #draftFile(pid: number): string {
    return join(this.#dir, `draft-${pid}`);
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function write(path: string, text: string): void {
  attempt(path, () => writeFileSync(path, text, PRIVATE));
}

/** A disk that takes nothing costs the history, never the conversation. */
function attempt(path: string, act: (path: string) => void): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    act(path);
  } catch {
    // nothing is kept
  }
}

function parsed(line: string): string[] {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" ? [text] : [];
  } catch {
    return [];
  }
}
