/** The slash commands of a conversation. */

import { findPermissionMode, PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { slashLine } from "../../lib/slash.ts";

export type Word =
  | { readonly kind: "say"; readonly text: string }
  /** It calls a skill, if there is one of this name. */
  | { readonly kind: "skill"; readonly name: string; readonly text: string }
  | { readonly kind: "help" | "exit" | "stop" | "sessions" | "back" | "context" }
  /** "": nothing in particular to pay attention to. */
  | { readonly kind: "compact"; readonly text: string }
  /** "": asks for the current model. */
  | { readonly kind: "model"; readonly name: string }
  | { readonly kind: "title"; readonly title: string }
  /** undefined: asks for the current mode. */
  | { readonly kind: "mode"; readonly mode: PermissionMode | undefined }
  | { readonly kind: "unknown"; readonly message: string };

const PLAIN = ["help", "exit", "stop", "sessions", "back", "context"] as const;

export const HELP_LINES: readonly string[] = [
  "  /exit            leave; the session waits (also Ctrl-D, or Ctrl-C twice)",
  "  /stop            end what it does now (also Ctrl-C)",
  "  /back            take back your last message that has not been read",
  "  /title <words>   name the session",
  "  /mode [<mode>]   what it may do without asking (also Shift-Tab); /plan is /mode plan",
  "  /model [<name>]  the model that answers your next message",
  "  /context         what the model sees, and what each part costs",
  "  /compact [text]  let a summary take the place of what was said; crux context undo takes it back",
  "  /sessions        those of this folder",
  "  /<skill> <args>  use a skill: crux skills lists them",
  "  //text           a message that begins with /",
  "  Alt-Enter        a line break in a message",
];

/** undefined: nothing was typed. A path is not a slash command. */
export function wordOf(line: string): Word | undefined {
  const text = line.trim();
  if (text === "") return undefined;
  const called = slashLine(text);
  // with both slashes, so that it is not read as a call of a skill
  if (called === undefined) return { kind: "say", text: line.trimEnd() };
  const { name, args: rest } = called;
  if (name === "title")
    return rest === "" ? { kind: "unknown", message: "/title needs words" } : { kind: "title", title: rest };
  if (name === "compact") return { kind: "compact", text: rest.trim() };
  if (name === "plan" && rest === "") return { kind: "mode", mode: "plan" };
  if (name === "model") return { kind: "model", name: rest.trim() };
  if (name === "mode") return modeWord(rest.trim());
  const plain = PLAIN.find((each) => each === name);
  if (plain !== undefined && rest === "") return { kind: plain };
  if (plain !== undefined) return { kind: "unknown", message: `/${name} takes no words; //${name} sends it` };
  return { kind: "skill", name, text };
}

function modeWord(rest: string): Word {
  const mode = rest === "" ? undefined : findPermissionMode(rest);
  if (rest === "" || mode !== undefined) return { kind: "mode", mode };
  return { kind: "unknown", message: `no such mode: ${rest}; modes: ${PERMISSION_MODES.join(", ")}` };
}
