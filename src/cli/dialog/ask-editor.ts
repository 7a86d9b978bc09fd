/** Lets the user edit the arguments of a call, in the editor named by the environment if there is one. */
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../../lib/paths.ts";
import { makeScratchFolder } from "../../lib/scratch-folder.ts";
import { en } from "../screen/words/en.ts";

type EditedArguments =
  | { readonly kind: "arguments"; readonly input: Record<string, unknown> }
  | { readonly kind: "wrong"; readonly why: string };

/** The command of the editor, e.g. `vi` or `code --wait`; undefined: none is set. */
export function editorOf(env: Environment): string | undefined {
  const found = [env.VISUAL, env.EDITOR].find((name) => name !== undefined && name.trim() !== "");
  return found?.trim();
}

/** Runs the editor on the terminal and waits; meanwhile the editor receives the keys. `name`: of the file, whose ending says what it is. */
export function editText(editor: string, text: string, name: string): string {
  const dir = makeScratchFolder("crux-edit-");
  try {
    const file = join(dir, name);
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    // through a shell, like git: the variable may hold options, and it is set by the user
    const { status, error } = spawnSync("/bin/sh", ["-c", `${editor} "$1"`, "sh", file], {
      stdio: "inherit",
    });
    if (error !== undefined || status !== 0)
      throw new Error(`${editor} ended with ${status ?? error?.message}`);
    return readFileSync(file, "utf8");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Arguments as a file that an editor gets, and as arguments again; undefined: nothing is left of them. */
interface ArgumentsFile {
  readonly name: string;
  readonly text: string;
  back(edited: string): string | undefined;
}

/** A plan, which is Markdown, as itself; others as indented JSON, one key per line. */
export function argumentsFile(text: string): ArgumentsFile {
  const input: unknown = JSON.parse(text);
  const plan = planIn(input);
  if (plan === undefined)
    return { name: "arguments.json", text: `${JSON.stringify(input, null, 2)}\n`, back: (edited) => edited };
  const end = plan.endsWith("\n") ? "" : "\n";
  return {
    name: "plan.md",
    text: `${plan}${end}`,
    back: (edited) => {
      if (edited.trim() === "") return undefined;
      // an editor ends the last line
      return JSON.stringify({ plan: end === "" ? edited : edited.replace(/\n$/, "") });
    },
  };
}

function planIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null || Object.keys(input).length !== 1) return undefined;
  return "plan" in input && typeof input.plan === "string" ? input.plan : undefined;
}

export function readArguments(text: string, words = en.ask): EditedArguments {
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input === "object" && input !== null && !Array.isArray(input))
      return { kind: "arguments", input: input as Record<string, unknown> };
    return { kind: "wrong", why: words.notObject };
  } catch (error) {
    return { kind: "wrong", why: words.notJson(error instanceof Error ? error.message : "") };
  }
}

/** The main text argument of the call, if it has one, which can be edited on one line. */
export function mainText(text: string): { readonly key: string; readonly value: string } | undefined {
  const read = readArguments(text);
  if (read.kind === "wrong") return undefined;
  const { input } = read;
  const keys = Object.keys(input).filter((key) => typeof input[key] === "string");
  const key = keys.find((name) => name === "command") ?? (keys.length === 1 ? keys[0] : undefined);
  const value = key === undefined ? undefined : input[key];
  if (key === undefined || typeof value !== "string" || value.includes("\n")) return undefined;
  return { key, value };
}
