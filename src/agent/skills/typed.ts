/**
 * A message of the user that begins with `/name`: the skill is loaded as by a call of the model, through the gate, and
 * its text follows the message.
 */
import type { ProgramStart } from "../../abi/program.ts";
import type { ContextMessage, Sys } from "../../abi/sys.ts";
import { slashLine } from "../../lib/slash.ts";
import { escaped, reminder } from "../instructions/frame.ts";
import { callTool } from "../program/tool-call.ts";

type Begun = Pick<ProgramStart, "agent" | "slash">;

/** The initial prompt of its agent file, which `text` may begin with. */
export function initialPromptOf({ agent }: Begun): string | undefined {
  return agent?.manifest.initialPrompt;
}

/** Those of a message that begin with `/name`: the initial prompt, and what the user says below it. */
export function slashLines(start: Begun, text: string): readonly string[] {
  const initial = initialPromptOf(start) ?? "";
  const isOpened = initial !== "" && text.startsWith(initial);
  const said = start.slash === true ? text.slice(isOpened ? initial.length : 0).trim() : "";
  return [isOpened ? initial : "", said].filter((part) => slashLine(part) !== undefined);
}

/** What is to be added after the message; "": it calls no skill that exists. */
export async function skillTyped(sys: Sys, text: string): Promise<string> {
  const line = slashLine(text);
  if (line === undefined) return "";
  const { name, args } = line;
  const { content, isError } = await callTool(sys, "skill", {
    skill: name,
    ...(args === "" ? {} : { args }),
  });
  sys.ending.throwIfAborted();
  if (!isError) return reminder(`${headOf(name)}\n${escaped(content)}`);
  // no such skill, or no skills at all: it is text
  if (content.startsWith("Error [NOT_FOUND]")) return "";
  sys.log("warn", `/${name}: ${content.split("\n", 1)[0] ?? ""}`);
  return reminder(`${headOf(name)}\nIt could not be loaded: ${escaped(content)}`);
}

/** The user's first message if it calls a skill that has not been loaded yet: nothing was said after it. */
export function typedFirst(messages: readonly ContextMessage[], intent: string): string {
  const line = slashLine(intent);
  if (line === undefined || messages.some(({ role }) => role === "assistant")) return "";
  const isLoaded = messages.some(({ content }) => content.startsWith(reminderStart(line.name)));
  return isLoaded ? "" : intent;
}

function headOf(name: string): string {
  return `The user has called the skill ${name}.`;
}

function reminderStart(name: string): string {
  return reminder(headOf(name)).replace(/\n<\/.*$/s, "");
}
