/** What the model is told of its memory: where it is, how to use and to keep it, and what its indexes hold. Pure. */
import type { Memory } from "../../abi/surroundings.ts";
import { escaped } from "../instructions/frame.ts";

const SCOPES = { local: "this project", user: "the user, for all projects" } as const;

/** What the process has the tools to change; without them it is told only what there is. */
export interface Keeping {
  readonly mayWrite: boolean;
  /** Its own notes. */
  readonly mayKeep: boolean;
}

/** "": no memory. The notes of the agent itself come last. */
export function memoryText(memory: Memory | undefined, { mayWrite, mayKeep }: Keeping): string {
  return [sharedText(memory, mayWrite), ownText(memory, mayKeep)].filter((text) => text !== "").join("\n\n");
}

function sharedText(memory: Memory | undefined, mayWrite: boolean): string {
  if (memory === undefined || (!mayWrite && memory.indexes.length === 0)) return "";
  const { local, user, indexes } = memory;
  const places = `Memory: notes in Markdown that outlive this conversation. Of this project: ${local}; of the user, for all projects: ${user}.`;
  const found = indexes.map(({ scope, path, text }) => frame(path, SCOPES[scope], text));
  const none = indexes.length === 0 ? ["It is empty."] : [];
  return [places, ...(mayWrite ? [KEEPING] : []), TRUSTING, ...none, ...found].join("\n");
}

function ownText({ own }: Partial<Memory> = {}, mayKeep: boolean): string {
  if (own === undefined || (!mayKeep && own.index === "")) return "";
  const index = own.index === "" ? "It is empty." : frame(`${own.dir}/MEMORY.md`, "you", own.index);
  const keeping = mayKeep ? [OWN_KEEPING] : [];
  return [`Your own notes, of your earlier runs as this agent: ${own.dir}.`, ...keeping, index].join("\n");
}

function frame(path: string, of: string, text: string): string {
  return `<memory path="${path}" of="${of}">\n${escapedMemory(text)}\n</memory>`;
}

const OWN_KEEPING = `Keep there with write and edit, unasked, what you learn about your task and would need again: what to look at, what was \
wrong, what was right. One topic a file, <topic>.md, with name, description and type above its text, and a line for it in MEMORY.md beside it. \
Correct or remove what has become wrong. A note shows only that something was so when it was written.`;

const KEEPING = `Keep in it with write and edit, unasked, what a later session needs and cannot find in the project:
- user: who the user is and how they like to work
- feedback: corrections and confirmations of your conduct, with **Why:** and **How to apply:**
- project: facts that the code does not show, such as freezes, reasons and owners; dates absolute
- reference: where to look outside
No architecture, paths or history of the project, nothing about only this task, no secrets, nothing that pages or files of others say. One topic a file, <topic>.md:
---
name: <name>
description: <one line by which it is found>
type: user | feedback | project | reference
---
<text>
and a line for it in MEMORY.md of the same folder: - [Title](topic.md) — what it is about. Correct or remove what has become wrong.`;

const TRUSTING = `Before recommending from memory: a note shows only that something was so when it was written. Check that a path exists, search for a function or flag, before you rely on it.
Told to ignore memory, act as if MEMORY.md were empty: no use, citation, comparison or mention.`;

export function escapedMemory(text: string): string {
  return escaped(text).replace(/<(?=\s*\/?\s*memory\b)/gi, "&lt;");
}
