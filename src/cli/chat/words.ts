/** The slash commands of a conversation. */

import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { slashLine } from "../../lib/slash.ts";
import { en, type Phrases } from "../screen/words/en.ts";

export type Word =
  | { readonly kind: "say"; readonly text: string }
  /** It calls a skill, if there is one of this name. */
  | { readonly kind: "skill"; readonly name: string; readonly text: string }
  | { readonly kind: "help" | "exit" | "stop" | "sessions" | "back" | "context" }
  /** "": nothing in particular to pay attention to. */
  | { readonly kind: "compact"; readonly text: string }
  /** "": asks for the current model. */
  | { readonly kind: "model"; readonly name: string }
  /** A line for the user's shell. */
  | { readonly kind: "shell"; readonly command: string }
  /** A command of the command line. `ofSession`: it is about this one. */
  | { readonly kind: "run"; readonly argv: readonly string[]; readonly ofSession: boolean }
  /** Beside the conversation. */
  | { readonly kind: "btw"; readonly question: string }
  | { readonly kind: "title"; readonly title: string }
  /** undefined: asks for the current mode. */
  | { readonly kind: "mode"; readonly mode: PermissionMode | undefined }
  | { readonly kind: "unknown"; readonly message: string };

const PLAIN = ["help", "exit", "stop", "sessions", "back", "context"] as const;

/** undefined: nothing was typed. A path is not a slash command. */
export function wordOf(line: string, words: Phrases = en): Word | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  if (text.startsWith("!")) return shellWord(text.slice(1).trim(), words);
  const called = slashLine(text);
  // with both slashes, so that it is not read as a call of a skill
  if (called === undefined) return { kind: "say", text: line.trimEnd() };
  const { name, args: rest } = called;
  if (name === "title")
    return rest === ""
      ? { kind: "unknown", message: words.lines.titleNeeds }
      : { kind: "title", title: rest };
  if (name === "btw")
    return rest === ""
      ? { kind: "unknown", message: words.act.asideNeeds }
      : { kind: "btw", question: rest.trim() };
  if (name === "compact") return { kind: "compact", text: rest.trim() };
  if (name === "plan" && rest === "") return { kind: "mode", mode: "plan" };
  if (name === "model") return { kind: "model", name: rest.trim() };
  if (name === "mode") return modeWord(rest.trim(), words);
  const given = rest.split(/\s+/).filter((word) => word !== "");
  if (name === "cost") return { kind: "run", argv: ["cost", ...given], ofSession: false };
  if (name === "todo" || name === "tasks")
    return { kind: "run", argv: ["tasks", ...given], ofSession: given.length === 0 };
  const plain = PLAIN.find((each) => each === name);
  if (plain !== undefined && rest === "") return { kind: plain };
  if (plain !== undefined) return { kind: "unknown", message: words.lines.noWords(name) };
  return { kind: "skill", name, text };
}

function shellWord(command: string, { act }: Phrases): Word {
  return command === "" ? { kind: "unknown", message: act.needsCommand } : { kind: "shell", command };
}

function modeWord(rest: string, { act }: Phrases): Word {
  const mode = rest === "" ? undefined : findPermissionMode(rest);
  if (rest === "" || mode !== undefined) return { kind: "mode", mode };
  return { kind: "unknown", message: act.noMode(rest, PERMISSION_MODES.join(", ")) };
}
