/**
 * What the model is told of its surroundings: the dynamic part of the system prompt, and a reminder before the first
 * message, with the instruction files. Not part of the conversation, so that no compaction loses it.
 */
import type { Section } from "../../abi/context.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Surroundings } from "../../abi/surroundings.ts";
import type { ContextMessage, Prompt, Sys } from "../../abi/sys.ts";
import { instructionsText, reminder } from "../instructions/frame.ts";
import { environmentText, type Place } from "./environment.ts";

export interface Briefing {
  readonly environment: string;
  /** The texts of the reminder, each with the part as which the user sees it counted. */
  readonly sections: readonly Section[];
  /** Always the same object; null: nothing to tell. */
  readonly reminder: ContextMessage | null;
}

/** Asks for the surroundings, unless the history is older than they are. */
export async function briefingOf(sys: Sys, start: ProgramStart, place: Place): Promise<Briefing> {
  if (start.surroundings !== true) return briefingFrom(place);
  const around = await sys.surroundings(sys.ending);
  for (const notice of around.notices) sys.log("warn", notice);
  const files = around.instructions.map(({ path }) => path);
  if (files.length > 0) sys.log("info", `instructions: ${files.join(", ")}`);
  return briefingFrom(place, around);
}

function briefingFrom(place: Place, around?: Surroundings): Briefing {
  const all: readonly Section[] = [
    { part: "instructions", text: instructionsText(around?.instructions ?? []) },
  ];
  const sections = all.filter(({ text }) => text !== "");
  const text = sections.map((each) => each.text).join("\n\n");
  return {
    environment: environmentText(place, around),
    sections,
    reminder: text === "" ? null : { role: "user", content: reminder(text) },
  };
}

/** The prompt with the reminder before its first message. */
export function briefed(prompt: Prompt, { reminder }: Briefing): Prompt {
  return reminder === null ? prompt : { ...prompt, messages: [reminder, ...prompt.messages] };
}
