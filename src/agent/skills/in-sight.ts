/**
 * Skills that come into sight while the process works: those for files like the ones it touches, and those that lie in
 * folders it has come to. Each is told once for each view of the conversation; derived from the conversation, so a replay
 * tells the same.
 */
import { posix } from "node:path";
import ignore, { type Ignore } from "ignore";
import type { ToolCall } from "../../abi/loop.ts";
import type { SkillLine } from "../../abi/skill.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { LateMap } from "../../lib/maps/late.ts";
import { targetOf } from "../deferred/target.ts";
import { isReminder, reminder } from "../instructions/frame.ts";
import { pathsOf } from "../instructions/nearby.ts";
import { lineOf } from "./listing.ts";

/** Beyond these, further ones are left out. */
const MAX_WAITING = 1_000;
const MAX_DUE = 50;

interface Waiting {
  readonly line: SkillLine;
  readonly patterns: Ignore;
}

export class SkillsInSight {
  readonly #cwd: string;
  readonly #waiting = new LateMap<string, Waiting>();
  readonly #due = new LateMap<string, SkillLine>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Those with patterns wait for a file; the others, found later than the list, are due. */
  found(lines: readonly SkillLine[]): void {
    for (const line of lines) {
      if (line.paths === undefined) this.#isDue(line);
      else if (this.#waiting.size < MAX_WAITING)
        this.#waiting.set(line.name, { line, patterns: ignore().add([...line.paths]) });
    }
  }

  touched(calls: readonly ToolCall[]): void {
    if (this.#waiting.size === 0) return;
    for (const call of calls) {
      for (const path of pathsOf(targetOf(call).input, this.#cwd)) {
        const below = posix.relative(this.#cwd, path);
        if (below === "" || below.startsWith("../")) continue;
        for (const { line, patterns } of this.#waiting.values())
          if (patterns.ignores(below)) this.#isDue(line);
      }
    }
  }

  /** The note to add to the conversation; "": nothing new. */
  note(messages: readonly ContextMessage[]): string {
    if (this.#due.size === 0) return "";
    const told = messages.flatMap(({ role, content }) =>
      role === "user" && isReminder(content) ? [content] : [],
    );
    const isTold = ({ name }: SkillLine) =>
      told.some(
        (content) =>
          content.startsWith(OPEN) && new RegExp(`^- ${escapedName(name)}(?::|$)`, "m").test(content),
      );
    const fresh = [...this.#due.values()].filter((line) => !isTold(line));
    this.#due.clear();
    return fresh.length === 0 ? "" : reminder(`${HEAD}\n${fresh.map((line) => lineOf(line)).join("\n")}`);
  }

  #isDue(line: SkillLine): void {
    if (this.#due.size < MAX_DUE) this.#due.set(line.name, line);
  }
}

const HEAD = "More skills, for the files that you work on:";
const OPEN = reminder(HEAD).replace(/\n<\/.*$/s, "");

function escapedName(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
